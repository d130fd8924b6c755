/** The runner of fault kits. It is made of plain modules, so its types are said here. */

export interface FaultCase {
  readonly id: string;
  readonly kind: string;
  readonly fault: string;
  readonly start: Readonly<Record<string, unknown>>;
  readonly client?: Readonly<Record<string, unknown>>;
  readonly steps: readonly Readonly<Record<string, unknown>>[];
  readonly checks: Readonly<Record<string, unknown>>;
  /** Why it cannot be run. */
  readonly problems: readonly string[];
}

export interface Verdict {
  readonly id: string;
  readonly kind: string;
  readonly passed: boolean;
  readonly differences: readonly string[];
  readonly ms: number;
}

/** What the checks judge; a test gives the parts it is about. */
export type Seen = Readonly<Record<string, unknown>>;

interface Runner {
  readonly readCaseFile: (file: string) => { readonly folder: string; readonly cases: readonly FaultCase[] };
  readonly runCase: (kase: FaultCase, folder: string) => Promise<Verdict>;
  readonly checkAll: (checks: object, seen: Seen) => readonly string[];
  readonly CHECKS: Readonly<Record<string, unknown>>;
  readonly STEPS: Readonly<Record<string, unknown>>;
  readonly CHECK_NAMES: readonly string[];
  readonly STEP_NAMES: readonly string[];
}

const load = (name: string): Promise<Partial<Runner>> =>
  import(new URL(`./${name}.mjs`, import.meta.url).href) as Promise<Partial<Runner>>;

const MODULES = ['case-file', 'run-case', 'checks', 'steps', 'vocabulary'];

export const { readCaseFile, runCase, checkAll, CHECKS, STEPS, CHECK_NAMES, STEP_NAMES } = Object.assign(
  {},
  ...(await Promise.all(MODULES.map(load))),
) as Runner;
