/** The parts of the chaos runner that have tests. They are plain JavaScript, so their types are declared here. */

export interface Step {
  readonly at: number;
  readonly does: string;
  readonly to?: string;
  readonly forMs: number;
}

export interface Names {
  readonly stdio: readonly string[];
  readonly http: readonly string[];
  readonly memory: readonly string[];
}

export interface Ledger {
  begin(id: string, tool: string): void;
  answered(id: string, result: object, tookMs: number, limitMs: number): void;
  failed(id: string, error: unknown, tookMs: number, limitMs: number): void;
  listeners(id: string, count: number): void;
  judge(journal: readonly object[], outcomes: Readonly<Record<string, number>>): readonly string[];
}

export interface EventLog {
  readonly faults: readonly string[];
  readonly outcomes: Readonly<Record<string, number>>;
  follow(troupe: { readonly events$: unknown }): void;
  end(): Promise<void>;
}

export interface HttpEndpoint {
  readonly port: number;
  listen(port: number, step: number): Promise<void>;
  refuse(): Promise<void>;
}

interface Runner {
  readonly makePlan: (settings: {
    readonly seed: number;
    readonly names: Names;
    readonly durationMs: number;
  }) => readonly Step[];
  readonly namesOf: (count: number) => Names;
  readonly ACTIONS: Readonly<Record<string, unknown>>;
  readonly Ledger: new () => Ledger;
  readonly EventLog: new (file: string, header: object) => EventLog;
  readonly HttpEndpoint: new (journal: string, streams: boolean) => HttpEndpoint;
}

const load = (name: string): Promise<Partial<Runner>> =>
  import(new URL(`../../../tools/chaos/${name}.mjs`, import.meta.url).href) as Promise<Partial<Runner>>;

const MODULES = ['plan', 'fleet', 'actions', 'ledger', 'event-log', 'servers/http-endpoint'];

export const { makePlan, namesOf, ACTIONS, Ledger, EventLog, HttpEndpoint } = Object.assign(
  {},
  ...(await Promise.all(MODULES.map(load))),
) as Runner;
