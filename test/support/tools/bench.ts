/** The benchmark scripts are plain JavaScript, so each test declares the types of what it uses. */
export async function loadScript<T>(name: string): Promise<T> {
  return (await import(new URL(`../../../tools/bench/${name}`, import.meta.url).href)) as T;
}

/** The figures of one contender in one case. */
export interface Figures {
  readonly metrics: Readonly<Record<string, Figure | null>>;
  readonly isRough: boolean;
  readonly runs: number;
  readonly counted: number;
  readonly error?: string;
}

export interface Figure {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly runs: number;
}

export interface Results {
  readonly scenarios: Readonly<Record<string, Measured>>;
}

export interface Measured {
  readonly taken: string;
  readonly machine: Readonly<Record<string, string | number>>;
  readonly versions: Readonly<Record<string, string>>;
  readonly cases: Readonly<Record<string, Readonly<Record<string, Figures>>>>;
  readonly otherLoad: {
    readonly median: number | null;
    readonly most: number | null;
    readonly noisy: number;
    readonly runs: number;
  };
}

/** One run: one process of one contender. */
export interface Run {
  readonly values?: Readonly<Record<string, number | null>>;
  readonly error?: string;
  readonly otherLoad: number | null;
  readonly isNoisy: boolean;
  readonly tookMs?: number;
}

export const figure = (median: number): Figure => ({ median, min: median, max: median, runs: 1 });

export const figures = (metrics: Readonly<Record<string, number>>): Figures => ({
  metrics: Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, figure(value)])),
  isRough: false,
  runs: 1,
  counted: 1,
});

export const measured = (cases: Measured['cases']): Measured => ({
  taken: '2026-01-02',
  machine: { processor: '2 × a processor', memoryGiB: 8, system: 'Linux 6', node: '20.20.2' },
  versions: { 'mcp-troupe': '1.2.3' },
  cases,
  otherLoad: { median: 0.01, most: 0.4, noisy: 1, runs: 12 },
});
