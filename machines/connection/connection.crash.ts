/**
 * What remains of a connection that died of an error of the runtime, and the input of the next incarnation.
 *
 * C1. The remains are plain JSON, taken from the last context. The manager needs nothing else of the dead actor.
 * C2. An incarnation that died before its first state is not replaced: the next one would die as well.
 * C3. One that was stopping for good is replaced so that it stops in order, but only once: a replacement that dies
 *     while stopping is given up. So crashes cannot loop.
 */
import type { ConnectionContext, ConnectionInput, StopReason } from './connection.events.js';
import type { Failure } from '../policy/failure.js';

/** What remains of an incarnation that died. */
export interface Remains {
  /** The input of the next incarnation. */
  readonly input: Omit<ConnectionInput, 'online' | 'crash'>;
  /** Why it was stopping for good; null if it was not. */
  readonly ending: StopReason | null;
  /** It was a replacement itself. */
  readonly isReplacement: boolean;
  /** When its last effect settled, milliseconds since the epoch; 0 if none did. */
  readonly at: number;
}

/** The error that ended a connection's actor, and what its replacement needs. */
export interface Crash {
  /** Text of the error. */
  readonly message: string;
  /** What the next incarnation starts with. */
  readonly remains: Remains;
  /** It died before its first state. */
  readonly isStillborn: boolean;
}

/**
 * What remains of a connection that died while handling `event`, and whether it was stopping for good. The latest version
 * of the entry counts.
 */
export function remainsOf(context: ConnectionContext, event: unknown, isEnding: boolean): Remains {
  const { transport, policy } = context.next ?? context;
  return {
    input: {
      name: context.name,
      transport,
      policy,
      seed: context.seed,
      generation: context.issued,
      wanted: context.wanted,
      isAttempted: context.isAttempted,
    },
    ending: askedToEnd(event) ?? (isEnding ? context.stopReason : null),
    isReplacement: context.crash !== null,
    at: context.at,
  };
}

/** What remains of a connection that died before its first state. */
export function remainsOfNothing(input: ConnectionInput): Remains {
  return { input, ending: null, isReplacement: input.crash !== null, at: 0 };
}

/** If the connection died while handling a stop, the stop is not in its context yet. */
function askedToEnd(event: unknown): StopReason | null {
  const { type, reason } = (event ?? {}) as { readonly type?: unknown; readonly reason?: StopReason };
  return type === 'connection.stop' ? (reason ?? 'stop') : null;
}

/** The crash record of an actor's error; undefined if it has none. */
export function crashIn(error: unknown): Crash | undefined {
  return typeof error === 'object' && error !== null && 'crash' in error ? (error.crash as Crash) : undefined;
}

/** Whether it is replaced. */
export function mayBeReplaced({ isStillborn, remains }: Crash): boolean {
  return !isStillborn && !(remains.ending !== null && remains.isReplacement);
}

/** The input of the next incarnation. */
export function nextInput({ message, remains }: Crash, online: boolean): ConnectionInput {
  return { ...remains.input, online, crash: crashFailure(message, remains.at) };
}

/** The failure that its status shows. `at` is the last time that the dead actor knew. */
export function crashFailure(message: string, at: number): Failure {
  return {
    code: 'internal',
    message: `The connection's actor died of an error in the runtime: ${message}`,
    phase: 'session',
    at,
    hint: 'Retry it, and report this.',
  };
}
