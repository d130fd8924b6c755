/**
 * Puts every effect of the connection chart under the control of a test: it runs until the test settles it or the chart
 * leaves its state. Works for one connection or for many.
 */
import { fromCallback, fromPromise } from 'xstate';
import type {
  AdoptToolsOutput,
  BoundedSessionInput,
  ConnectionEvent,
  EnrichCatalogInput,
  EnrichCatalogOutput,
  HandshakeOutput,
  OpenTransportInput,
  OpenTransportOutput,
  ResolveConfigInput,
  ResolveConfigOutput,
  RetireSessionInput,
  SessionKey,
  Settled,
  SubscribeOutput,
  WatchSessionEvent,
  WatchSessionInput,
} from '../../machines/connection/connection.events.js';
import type { connectionMachine } from '../../machines/connection/connection.machine.js';
import { managed } from '../../machines/connection/connection.managed.js';
import type { Failure } from '../../machines/policy/failure.js';

interface Outputs {
  resolveConfig: ResolveConfigOutput;
  openTransport: OpenTransportOutput;
  handshake: HandshakeOutput;
  readTools: Settled;
  adoptTools: AdoptToolsOutput;
  enrichCatalog: EnrichCatalogOutput;
  authorize: Settled;
  retireSession: Settled;
  probe: Settled;
  subscribe: SubscribeOutput;
  releaseSession: Settled;
  drainCalls: Settled;
  closeSession: Settled;
  killSession: Settled;
}

/** The slots whose actors settle. */
export type Slot = keyof Outputs;

type Untimed<T> = T extends Settled ? Omit<T, keyof Settled> : never;

export type OutputOf<S extends Slot> = Untimed<Outputs[S]>;

const USUAL: { readonly [S in Slot]: OutputOf<S> } = {
  resolveConfig: { kind: 'resolved' },
  openTransport: { transport: 'stdio', pid: 4711, url: null },
  handshake: {
    server: {
      info: { name: 'sample', version: '1.0.0' },
      capabilities: { tools: { listChanged: true } },
      protocolVersion: '2025-11-25',
      instructions: null,
    },
  },
  readTools: {},
  adoptTools: { hash: 'catalog-1', tools: 3 },
  enrichCatalog: { resources: 2, resourceTemplates: 1, prompts: 4 },
  authorize: {},
  retireSession: {},
  probe: {},
  subscribe: { isOpen: true },
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
    | OpenTransportInput
    | EnrichCatalogInput
    | RetireSessionInput
    | WatchSessionInput;
}

/** Whose effect it is, if one slot runs for two sessions at once: the session in use or its successor. */
export type Whose = 'current' | 'successor';

export interface EndedEffect extends HeldEffect {
  readonly how: 'succeeded' | 'failed';
}

interface Running extends HeldEffect {
  readonly startedAt: number;
  readonly succeed: (output: object) => void;
  readonly fail: (failure: unknown) => void;
  readonly report: (fact: ConnectionEvent) => void;
}

export class HeldEffects {
  /** All effects that were started, in order. */
  readonly started: HeldEffect[] = [];
  /** All effects that have ended, in order. */
  readonly ended: EndedEffect[] = [];
  /** The events that the watchers of sessions received, in order. */
  readonly watched: WatchSessionEvent[] = [];
  readonly machine: typeof connectionMachine;
  readonly #running = new Set<Running>();

  /** `began` is called with every effect that starts. */
  constructor(
    private readonly now: () => number,
    private readonly began: (effect: HeldEffect) => void = () => {},
  ) {
    this.machine = managed().provide({
      actors: {
        resolveConfig: this.#hold<ResolveConfigOutput, ResolveConfigInput>('resolveConfig'),
        openTransport: this.#hold<OpenTransportOutput, OpenTransportInput>('openTransport'),
        handshake: this.#hold<HandshakeOutput, BoundedSessionInput>('handshake'),
        readTools: this.#hold<Settled, BoundedSessionInput>('readTools'),
        adoptTools: this.#hold<AdoptToolsOutput, SessionKey>('adoptTools'),
        enrichCatalog: this.#hold<EnrichCatalogOutput, EnrichCatalogInput>('enrichCatalog'),
        authorize: this.#hold<Settled, SessionKey>('authorize'),
        retireSession: this.#hold<Settled, RetireSessionInput>('retireSession'),
        probe: this.#hold<Settled, BoundedSessionInput>('probe'),
        subscribe: this.#hold<SubscribeOutput, BoundedSessionInput>('subscribe'),
        watchSession: this.#watch(),
        releaseSession: this.#hold<Settled, BoundedSessionInput>('releaseSession'),
        drainCalls: this.#hold<Settled, BoundedSessionInput>('drainCalls'),
        closeSession: this.#hold<Settled, BoundedSessionInput>('closeSession'),
        killSession: this.#hold<Settled, BoundedSessionInput>('killSession'),
      },
    });
  }

  /** Slots of the running effects of one connection, sorted. */
  running(name: string): string[] {
    return this.#of(name)
      .map(({ slot }) => slot)
      .toSorted();
  }

  succeed<S extends Slot>(name: string, slot: S, output: Partial<OutputOf<S>>, whose?: Whose): void {
    const effect = this.#end(name, slot, 'succeeded', whose);
    effect.succeed({ ...USUAL[slot], ...output, startedAt: effect.startedAt, at: this.now() });
  }

  /** The failure may be any error, as in an effect with a bug. */
  fail(name: string, slot: Slot, failure: Failure | Error, whose?: Whose): void {
    this.#end(name, slot, 'failed', whose).fail(failure);
  }

  /** Reports a fact as the watcher of the current session. */
  report(name: string, fact: ConnectionEvent): void {
    this.#find(name, 'watchSession').report(fact);
  }

  #of(name: string): Running[] {
    return [...this.#running].filter(({ input }) => input.name === name);
  }

  /** If two effects run in the slot, the one of the successor has the higher generation. */
  #find(name: string, slot: HeldEffect['slot'], whose: Whose = 'current'): Running {
    const found = this.#of(name)
      .filter((effect) => effect.slot === slot)
      .toSorted((a, b) => generationOf(a) - generationOf(b))
      .at(whose === 'current' ? 0 : -1);
    if (found !== undefined) return found;
    throw new Error(
      `'${slot}' of '${name}' is not running; running effects: ${this.running(name).join(', ')}`,
    );
  }

  #end(name: string, slot: Slot, how: EndedEffect['how'], whose?: Whose): Running {
    const effect = this.#find(name, slot, whose);
    this.#running.delete(effect);
    this.ended.push({ slot, input: effect.input, how });
    return effect;
  }

  #begin(begun: Omit<Running, 'startedAt'>): () => void {
    const effect = { ...begun, startedAt: this.now() };
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
          const end = this.#begin({ slot, input, succeed, fail: reject, report: () => {} });
          signal.addEventListener('abort', end, { once: true });
        }),
    );
  }

  #watch() {
    return fromCallback<WatchSessionEvent, WatchSessionInput>(({ input, sendBack, receive }) => {
      receive((event) => this.watched.push(event));
      return this.#begin({
        slot: 'watchSession',
        input,
        succeed: () => {},
        fail: () => {},
        report: sendBack,
      });
    });
  }
}

export function generationOf({ input }: HeldEffect): number {
  return 'generation' in input ? input.generation : 0;
}
