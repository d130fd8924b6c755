/**
 * How sessions end: drained, closed in order, or killed. Either all sessions of a connection end at once, so that none
 * is left over, or a single one ends while another is in use.
 */
import type { BoundedSessionInput, RetireSessionInput } from '../../machines/connection/connection.events.js';
import { settlesWithin } from '../async/timers.js';
import type { Released, Sessions } from '../sessions/sessions.js';
import { TransportError, type RawFailure } from '../failures/transport-error.js';
import { effect, type Nothing } from './effect.js';
import { diagnose, type EffectPorts } from './effect-ports.js';

const limitMs = (input: BoundedSessionInput): number => input.limitMs;

const expired = (_: BoundedSessionInput, limit: number): RawFailure => notReleased(limit);

/** The failure if an old session takes too long to end. */
export function notReleased(limit: number): RawFailure {
  return {
    code: 'not-released',
    message: `Troupe could not confirm within ${limit} ms that the old session has ended, so it starts no new one.`,
    hint: 'Find the process of this server that does not exit, and retry.',
  };
}

/** Throws if something survived. */
function proven(left: Released): Nothing {
  if (left !== undefined) throw new TransportError(left);
  return {};
}

function ending(end: (sessions: Sessions, name: string) => Promise<Released>) {
  return (ports: EffectPorts) =>
    effect<Nothing, BoundedSessionInput>(ports, {
      phase: 'release',
      limitMs,
      expired,
      run: async ({ name }) => proven(await end(ports.sessions, name)),
    });
}

/** Serves `releaseSession` and `closeSession`: to release is to close what a failure left. */
export const closeSession = ending((sessions, name) => sessions.close(name));

export const killSession = ending((sessions, name) => sessions.kill(name));

/**
 * Ends when no call is in flight or the limit is over; at once if the limit is 0. Closing the session settles what is
 * left.
 */
export function drainCalls(ports: EffectPorts) {
  return effect<Nothing, BoundedSessionInput>(ports, {
    phase: 'release',
    limitMs,
    run: async (key, signal) => {
      if (key.limitMs > 0) await ports.sessions.idle(key.name, signal);
      return {};
    },
  });
}

/** Lets the calls of one session finish, then ends it. Anything that survives is reported as a diagnostic. */
export function retireSession(ports: EffectPorts) {
  const { clock, sessions } = ports;
  return effect<Nothing, RetireSessionInput>(ports, {
    phase: 'release',
    run: async (input, signal) => {
      const { drainMs, closeMs } = input;
      const session = sessions.get(input);
      if (drainMs > 0 && session !== undefined) await settlesWithin(clock, drainMs, session.idle(signal));
      signal.throwIfAborted();
      const ended = sessions.closeOne(input);
      const isOver = await settlesWithin(clock, closeMs, ended);
      const left = isOver ? await ended : notReleased(closeMs);
      if (left !== undefined) diagnose(ports, input, 'not-released', left.message);
      return proven(left);
    },
  });
}
