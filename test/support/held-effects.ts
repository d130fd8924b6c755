/**
 * Every effect of the connection chart in the hands of a test: it runs until the test settles it, or its state is
 * left. Serves one connection or a whole troupe of them.
 */
import { fromCallback, fromPromise } from 'xstate';
import type {
  BoundedSessionInput,
  ConnectionEvent,
  EnrichCatalogInput,
  EnrichCatalogOutput,
  HandshakeOutput,
  ListToolsOutput,
  OpenTransportOutput,
  PrepareSessionInput,
  PrepareSessionOutput,
  ResolveConfigInput,
  ResolveConfigOutput,
  RetireSessionInput,
  SessionKey,
  Settled,
  WatchSessionInput,
} from '../../machines/connection.events.js';
import { connectionMachine } from '../../machines/connection.machine.js';
import type { Failure } from '../../machines/policy/failure.js';

interface Outputs {
  resolveConfig: ResolveConfigOutput;
  openTransport: OpenTransportOutput;
  handshake: HandshakeOutput;
  listTools: ListToolsOutput;
  enrichCatalog: EnrichCatalogOutput;
  authorize: Settled;
  prepareSession: PrepareSessionOutput;
  retireSession: Settled;
  probe: Settled;
  releaseSession: Settled;
  drainCalls: Settled;
  closeSession: Settled;
  killSession: Settled;
}

/** The actor slots that settle. */
export type Slot = keyof Outputs;

type Untimed<T> = T extends Settled ? Omit<T, keyof Settled> : never;

export type OutputOf<S extends Slot> = Untimed<Outputs[S]>;

const USUAL: { readonly [S in Slot]: OutputOf<S> } = {
  resolveConfig: { kind: 'resolved', hash: 'config-1' },
  openTransport: { transport: 'stdio', pid: 4711, url: null },
  handshake: {
    server: {
      info: { name: 'sample', version: '1.0.0' },
      capabilities: { tools: { listChanged: true } },
      protocolVersion: '2025-11-25',
      instructions: null,
    },
  },
  listTools: { hash: 'catalog-1', tools: 3 },
  enrichCatalog: { resources: 2, resourceTemplates: 1, prompts: 4 },
  authorize: {},
  prepareSession: {
    kind: 'prepared',
    configHash: 'config-2',
    transport: 'http',
    pid: null,
    url: null,
    server: {
      info: { name: 'successor', version: '2.0.0' },
      capabilities: { tools: { listChanged: true } },
      protocolVersion: '2025-11-25',
      instructions: null,
    },
    catalogHash: 'catalog-2',
    tools: 5,
    timings: { configuringMs: 1, queuedMs: 0, launchingMs: 2, handshakingMs: 3, listingMs: 4 },
  },
  retireSession: {},
  probe: {},
  releaseSession: {},
  drainCalls: {},
  closeSession: {},
  killSession: {},
};

/** One effect that was started. */
export interface HeldEffect {
  readonly slot: Slot | 'watchSession';
  readonly input:
    | ResolveConfigInput
    | SessionKey
    | BoundedSessionInput
    | EnrichCatalogInput
    | PrepareSessionInput
    | RetireSessionInput
    | WatchSessionInput;
}

interface Running extends HeldEffect {
  readonly succeed: (output: object) => void;
  readonly fail: (failure: unknown) => void;
  readonly tell: (fact: ConnectionEvent) => void;
}

export class HeldEffects {
  /** Everything that was ever started, in order. */
  readonly started: HeldEffect[] = [];
  /** Slots of those that have succeeded, in order. */
  readonly settled: Slot[] = [];
  readonly machine: typeof connectionMachine;
  readonly #running = new Set<Running>();

  /** `began` is told of every effect that is started. */
  constructor(
    private readonly now: () => number,
    private readonly began: (effect: HeldEffect) => void = () => {},
  ) {
    this.machine = connectionMachine.provide({
      actors: {
        resolveConfig: this.#hold<ResolveConfigOutput, ResolveConfigInput>('resolveConfig'),
        openTransport: this.#hold<OpenTransportOutput, BoundedSessionInput>('openTransport'),
        handshake: this.#hold<HandshakeOutput, BoundedSessionInput>('handshake'),
        listTools: this.#hold<ListToolsOutput, BoundedSessionInput>('listTools'),
        enrichCatalog: this.#hold<EnrichCatalogOutput, EnrichCatalogInput>('enrichCatalog'),
        authorize: this.#hold<Settled, SessionKey>('authorize'),
        prepareSession: this.#hold<PrepareSessionOutput, PrepareSessionInput>('prepareSession'),
        retireSession: this.#hold<Settled, RetireSessionInput>('retireSession'),
        probe: this.#hold<Settled, BoundedSessionInput>('probe'),
        watchSession: this.#watch(),
        releaseSession: this.#hold<Settled, BoundedSessionInput>('releaseSession'),
        drainCalls: this.#hold<Settled, BoundedSessionInput>('drainCalls'),
        closeSession: this.#hold<Settled, BoundedSessionInput>('closeSession'),
        killSession: this.#hold<Settled, BoundedSessionInput>('killSession'),
      },
    });
  }

  /** Slots of the effects of one connection that run now, sorted. */
  running(name: string): string[] {
    return this.#of(name)
      .map(({ slot }) => slot)
      .toSorted();
  }

  succeed<S extends Slot>(name: string, slot: S, output: Partial<OutputOf<S>>): void {
    const at = this.now();
    this.#end(name, slot).succeed({ ...USUAL[slot], ...output, startedAt: at, at });
    this.settled.push(slot);
  }

  /** The failure may be anything, as in an effect with a bug. */
  fail(name: string, slot: Slot, failure: Failure | Error): void {
    this.#end(name, slot).fail(failure);
  }

  /** Speaks as the watcher of the present session. */
  tell(name: string, fact: ConnectionEvent): void {
    this.#find(name, 'watchSession').tell(fact);
  }

  #of(name: string): Running[] {
    return [...this.#running].filter(({ input }) => input.name === name);
  }

  #find(name: string, slot: HeldEffect['slot']): Running {
    const found = this.#of(name).find((effect) => effect.slot === slot);
    if (found !== undefined) return found;
    throw new Error(`'${slot}' of '${name}' is not running; what runs is: ${this.running(name).join(', ')}`);
  }

  #end(name: string, slot: Slot): Running {
    const effect = this.#find(name, slot);
    this.#running.delete(effect);
    return effect;
  }

  #begin(effect: Running): () => void {
    const started = { slot: effect.slot, input: effect.input };
    this.started.push(started);
    this.#running.add(effect);
    this.began(started);
    return () => this.#running.delete(effect);
  }

  #hold<TOutput, TInput extends HeldEffect['input']>(slot: Slot) {
    return fromPromise<TOutput, TInput>(
      ({ input, signal }) =>
        new Promise<TOutput>((resolve, reject) => {
          const succeed = (output: object): void => resolve(output as TOutput);
          const end = this.#begin({ slot, input, succeed, fail: reject, tell: () => {} });
          signal.addEventListener('abort', end, { once: true });
        }),
    );
  }

  #watch() {
    return fromCallback<ConnectionEvent, WatchSessionInput>(({ input, sendBack }) =>
      this.#begin({ slot: 'watchSession', input, succeed: () => {}, fail: () => {}, tell: sendBack }),
    );
  }
}
