/** The parts of the conformance run that have tests. They are plain JavaScript, so their types are declared here. */

export interface Scenario {
  readonly checks?: number;
  readonly ends?: string;
  readonly lacks?: string;
}

export interface Part {
  readonly id: string;
  readonly leg: 'client' | 'server';
  /** The program behind the gateway. */
  readonly fixture?: string;
  readonly scenarios: Readonly<Record<string, Scenario>>;
}

export interface Found {
  readonly name: string;
  readonly passed: number;
  readonly complaints: readonly string[];
  readonly ended: string;
}

interface Played {
  readonly found: readonly Found[];
  readonly problems: readonly string[];
}

interface Run {
  readonly code: number;
  readonly scenarios: readonly Found[];
  readonly output: string;
}

export interface Gateway {
  readonly url: string;
  /** Resolves with its exit code. */
  close(): Promise<number | null>;
}

interface Runner {
  readonly PARTS: readonly Part[];
  readonly judge: (
    part: Pick<Part, 'leg' | 'scenarios'>,
    chosen: readonly string[],
    run: Run,
    about: { readonly isWhole: boolean },
  ) => readonly string[];
  readonly playPart: (
    part: Part,
    options: { readonly only?: readonly string[]; readonly url?: string; readonly signal: AbortSignal },
  ) => Promise<Played>;
  readonly startGateway: (fixture?: string) => Promise<Gateway>;
  readonly conformancePage: (parts: readonly Part[], options: object | null) => Promise<string>;
}

const MODULES = ['expected', 'judge', 'play-part', 'gateway-process', 'page'];

const load = (name: string): Promise<Partial<Runner>> =>
  import(new URL(`../../../tools/conformance/${name}.mjs`, import.meta.url).href) as Promise<Partial<Runner>>;

export const { PARTS, judge, playPart, startGateway, conformancePage } = Object.assign(
  {},
  ...(await Promise.all(MODULES.map(load))),
) as Runner;
