/** The runner of the fault kits. It is plain JavaScript, so its types are declared here. */

export interface FaultCase {
  readonly id: string;
  readonly kind: string;
  readonly fault: string;
  readonly start: Readonly<Record<string, unknown>>;
  readonly client?: Readonly<Record<string, unknown>>;
  readonly steps: readonly Readonly<Record<string, unknown>>[];
  readonly checks: Readonly<Record<string, unknown>>;
  /** The HTTP server that it needs. */
  readonly server?: Readonly<Record<string, unknown>>;
  /** Why it cannot run. */
  readonly problems: readonly string[];
}

export interface Verdict {
  readonly id: string;
  readonly kind: string;
  readonly passed: boolean;
  readonly differences: readonly string[];
  readonly ms: number;
}

/** The input of the checks; a test provides only the relevant parts. */
export type Seen = Readonly<Record<string, unknown>>;

/** What was observed of one server. */
interface ServerSeen {
  readonly state: string;
  readonly pids: readonly number[];
}

interface TroupeWatch {
  readonly servers: ReadonlyMap<string, ServerSeen>;
  follow(troupe: object): void;
  takeStock(troupe: object): Promise<void>;
  keepError(error: unknown): void;
  readonly texts: ReadonlySet<string>;
  readonly logger: Readonly<
    Record<'debug' | 'info' | 'warn' | 'error', (message: string, details?: object) => void>
  >;
}

interface Runner {
  readonly readCaseFile: (file: string) => { readonly folder: string; readonly cases: readonly FaultCase[] };
  readonly runCase: (kase: FaultCase, folder: string, signal?: AbortSignal) => Promise<Verdict>;
  readonly checkAll: (checks: object, seen: Seen) => readonly string[];
  readonly longestOf: (kase: Pick<FaultCase, 'steps' | 'client'>) => number;
  readonly isAlive: (pid: number) => boolean;
  readonly Watch: new (options?: { readonly secrets?: readonly string[] }) => TroupeWatch;
  readonly CHECKS: Readonly<Record<string, unknown>>;
  readonly STEPS: Readonly<Record<string, unknown>>;
  readonly CALL_CHECKS: Readonly<Record<string, unknown>>;
  readonly CHECK_NAMES: readonly string[];
  readonly CALL_CHECK_NAMES: readonly string[];
  readonly STEP_NAMES: readonly string[];
}

const load = (name: string): Promise<Partial<Runner>> =>
  import(new URL(`../../../tools/faults/${name}.mjs`, import.meta.url).href) as Promise<Partial<Runner>>;

const MODULES = [
  'call-checks',
  'case-file',
  'checks',
  'processes',
  'run-case',
  'steps',
  'time-limits',
  'vocabulary',
  'watch',
];

export const {
  readCaseFile,
  runCase,
  longestOf,
  isAlive,
  Watch,
  checkAll,
  CHECKS,
  CALL_CHECKS,
  STEPS,
  CHECK_NAMES,
  CALL_CHECK_NAMES,
  STEP_NAMES,
} = Object.assign({}, ...(await Promise.all(MODULES.map(load)))) as Runner;
