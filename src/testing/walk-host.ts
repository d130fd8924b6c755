/**
 * Walks a path of the connection chart through the host's own troupe: the machine, the status, the events and all that
 * the host makes of them are real, and each effect ends as the path says.
 *
 * No server is started and the clock stands still, so every transition is reached, also those that need a rare accident.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { fromCallback, fromPromise, type AnyActorRef } from 'xstate';
import type { ConnectionInput } from '../../machines/connection/connection.events.js';
import type { ConnectionMachine } from '../../machines/connection/connection.machine.js';
import { publicState } from '../../machines/connection/public-state.js';
import type { ServerConfig } from '../config/entry/server-config.js';
import type { ServerStatus } from '../lifecycle/status.js';
import type { TroupeOptions } from '../options.js';
import type { Troupe } from '../runtime/troupe.js';
import { MODEL_START } from './connection-model.js';
import { createControlledClock } from './controlled-clock.js';
import { walkEdgePath, type EdgeEvent, type EdgePath } from './edge-paths.js';
import type { TransitionCoverage } from './transition-coverage.js';

/** What a troupe of the host needs for a walk. Other options are the host's own. */
export type WalkOptions = Required<Pick<TroupeOptions, 'servers' | 'machines' | 'clock' | 'cache'>> &
  Pick<TroupeOptions, 'auth'>;

/** What a walk shows after the start and after each event. */
export interface WalkedStep {
  /** What has happened; undefined at the start. */
  readonly event: EdgeEvent<ConnectionMachine> | undefined;
  /** The row of the status, with the state and substate that the path expects. */
  readonly status: ServerStatus;
  /** The troupe of the host. */
  readonly troupe: Troupe;
}

/** The parts of a walk that belong to the host. */
export interface HostUnderTest {
  /**
   * Makes the troupe. It is started and closed by the walk.
   *
   * @param options Options to pass on to `createTroupe`.
   */
  open(options: WalkOptions): Troupe;
  /**
   * Compares what the host shows with the status. Default: nothing more is compared.
   *
   * @param step What has happened, and the status now.
   */
  check?(step: WalkedStep): Promise<void> | void;
  /** Counts the transitions that are taken. Default: they are not counted. */
  readonly coverage?: TransitionCoverage;
}

/**
 * Walks one path of `edgePaths(model.machine, model)` of `connectionModel()` through a troupe of the host, and closes it.
 *
 * @param path The path.
 * @param host Makes the troupe, and checks what the host shows.
 *
 * @throws `Error` if the machine or the status is in another state than the path says, or what `check` throws.
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 * import { connectionModel, edgePaths, transitionCoverage, walkHost } from 'mcp-troupe/testing';
 *
 * const model = connectionModel();
 * const coverage = transitionCoverage();
 * for (const path of edgePaths(model.machine, model).paths)
 *   await walkHost(path, {
 *     coverage,
 *     open: (options) => createTroupe({ ...options }),
 *     check: ({ status }) => console.log(status.state),
 *   });
 * console.log(coverage.summary);
 * ```
 */
export async function walkHost(path: EdgePath<ConnectionMachine>, host: HostUnderTest): Promise<void> {
  const { input } = path;
  const effects = new PathEffects(input, host.coverage);
  const troupe = host.open({
    servers: { [input.name]: entryOf(input) },
    machines: { connection: effects.adapt },
    clock: createControlledClock(MODEL_START),
    cache: false,
  });
  const row = (): ServerStatus | undefined => troupe.status.find(({ server }) => server === input.name);
  const check = async (event: WalkedStep['event']): Promise<void> => {
    const status = row();
    const { state, substate } = publicState(effects.actor.getSnapshot().value);
    if (status === undefined || status.state !== state || status.substate !== substate)
      throw new Error(
        `After ${event?.type ?? 'the start'} the status shows '${status?.state}' ('${status?.substate}'), and should show '${state}' ('${substate}').`,
      );
    await host.check?.({ event, status, troupe });
  };
  try {
    let isStarted = false;
    const over = (): void => void (isStarted = true);
    troupe.start().then(over, over);
    while (row() === undefined || !effects.hasBegun) {
      if (isStarted)
        throw new Error('The troupe does not start its server. Pass on all options of the walk.');
      await turn();
    }
    await turn();
    await check(undefined);
    await walkEdgePath(path, {
      state: () => effects.actor.getSnapshot().value,
      perform: async (event) => {
        effects.perform(event);
        await turn();
        await check(event);
      },
    });
  } finally {
    effects.letGo();
    await troupe.close();
  }
}

function entryOf({ transport }: ConnectionInput): ServerConfig {
  if (transport === 'stdio') return { command: process.execPath };
  if (transport === 'in-process') return { type: 'in-process', server: { connect: async () => {} } };
  return { type: transport, url: 'http://127.0.0.1:9/mcp' };
}

interface Settle {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Actor {
  send(event: unknown): void;
  getSnapshot(): { readonly value: never };
}

/** The effects of one connection. Each ends when the path says so, and at once after `letGo`. */
class PathEffects {
  readonly #running = new Map<string, Settle>();
  readonly #input: ConnectionInput;
  readonly #coverage: TransitionCoverage | undefined;
  #actor: Actor | undefined;
  #isOver = false;

  constructor(input: ConnectionInput, coverage: TransitionCoverage | undefined) {
    this.#input = input;
    this.#coverage = coverage;
  }

  get hasBegun(): boolean {
    return this.#actor !== undefined;
  }

  get actor(): Actor {
    if (this.#actor === undefined) throw new Error('The connection has not started.');
    return this.#actor;
  }

  /** The same chart, which starts as the path says, and asks nobody for its start. */
  readonly adapt = (machine: ConnectionMachine): ConnectionMachine => {
    const slots = Object.keys(machine.implementations.actors).filter((slot) => slot !== 'watchSession');
    const held = machine.provide({
      actors: {
        ...Object.fromEntries(slots.map((slot) => [slot, this.#effect()])),
        watchSession: fromCallback(() => {}),
      },
      actions: { claimStart: () => {} },
    });
    const begun = Object.create(held) as ConnectionMachine;
    begun.getInitialSnapshot = (scope, input) => {
      this.#actor = scope.self as unknown as Actor;
      return held.getInitialSnapshot(scope, { ...this.#input, name: input?.name ?? this.#input.name });
    };
    return this.#coverage?.connection(begun) ?? begun;
  };

  #effect() {
    return fromPromise<unknown, unknown>(({ self }) =>
      this.#isOver
        ? Promise.resolve(AT_ONCE)
        : new Promise((resolve, reject) => {
            this.#running.set((self as AnyActorRef).id, { resolve, reject });
          }),
    );
  }

  perform(event: EdgeEvent<ConnectionMachine>): void {
    const [, end, id = ''] = /^xstate\.(done|error)\.actor\.(.*)$/.exec(event.type) ?? [];
    if (end === undefined) return this.actor.send(event);
    const running = this.#running.get(id);
    if (running === undefined) throw new Error(`The effect '${id}' is not running.`);
    this.#running.delete(id);
    if (end === 'done') running.resolve('output' in event ? event.output : undefined);
    else running.reject('error' in event ? event.error : undefined);
  }

  letGo(): void {
    this.#isOver = true;
    for (const { resolve } of this.#running.values()) resolve(AT_ONCE);
  }
}

/** An output that every effect may have. */
const AT_ONCE = { startedAt: MODEL_START, at: MODEL_START, kind: 'untrusted' };
