/**
 * How sessions are brought to their end: drained, closed with courtesy, or killed. All of the connection at once, so that
 * nothing older can be left behind; or, once one has replaced the other, the older one alone.
 */
import type { BoundedSessionInput, RetireSessionInput } from '../../machines/connection.events.js';
import { doneWithin } from '../release.js';
import type { Released, Sessions } from '../sessions.js';
import { TransportError, type RawFailure } from '../transports/session-transport.js';
import { effect, type Nothing } from './effect.js';
import { diagnose, type EffectPorts } from './effect-ports.js';

const limitMs = (input: BoundedSessionInput): number => input.limitMs;

const expired = (_: BoundedSessionInput, limit: number): RawFailure => notReleased(limit);

/** What it means that an old session takes too long to end. */
export function notReleased(limit: number): RawFailure {
  return {
    code: 'not-released',
    message: `The old session was not proven gone within ${limit} ms, so no new one may start.`,
    hint: 'Look for a process of this server that does not end, then retry.',
  };
}

/** Done, unless something survived. */
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

/** Over when no call is in flight or the limit is, at once where that is 0; what is left the close settles. */
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

/** Lets the calls of a session that was replaced finish, and ends it. What survives that is told. */
export function retireSession(ports: EffectPorts) {
  const { clock, sessions } = ports;
  return effect<Nothing, RetireSessionInput>(ports, {
    phase: 'release',
    run: async (input, signal) => {
      const { name, besides, drainMs, closeMs } = input;
      await sessions.get(input)?.finishCalls(clock, drainMs);
      signal.throwIfAborted();
      const ended = sessions.closeOthers({ name, generation: besides });
      const isOver = await doneWithin(clock, closeMs, ended);
      const left = isOver ? await ended : notReleased(closeMs);
      if (left !== undefined) diagnose(ports, input, left.code, left.message);
      return proven(left);
    },
  });
}
