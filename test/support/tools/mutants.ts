/** The parts of the mutation check that have tests. They are plain JavaScript, so their types are declared here. */

export interface Mutant {
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly place: string;
  readonly what: string;
  readonly text: string;
}

export interface Outcome {
  readonly id: string;
  readonly caughtBy: string | null;
}

export interface Memory {
  get(id: string): Outcome | undefined;
  keep(result: Outcome & { readonly how: string }): void;
}

export interface Report {
  readonly table: string;
  readonly missing: readonly Outcome[];
  readonly score: number;
}

type Texts = ReadonlyMap<string, string>;

interface Parts {
  readonly mutantsOf: (file: string, source: string, chart?: readonly string[]) => readonly Mutant[];
  readonly reportOf: (
    results: readonly (Outcome & Pick<Mutant, 'file' | 'line'>)[],
    excuses: Readonly<Record<string, string>>,
  ) => Report;
  readonly Memory: new (project: string, machines: Texts, tests: Texts) => Memory;
}

const load = (name: string): Promise<Partial<Parts>> =>
  import(new URL(`../../../tools/mutants/${name}.mjs`, import.meta.url).href) as Promise<Partial<Parts>>;

export const { mutantsOf, reportOf, Memory } = Object.assign(
  {},
  ...(await Promise.all(['mutate', 'report', 'memory'].map(load))),
) as Parts;
