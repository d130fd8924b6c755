/**
 * One ping. Any sign of life counts as an answer: a pong, an error (a server need not know `ping`), a message of
 * another kind, a call in flight that the server may be busy with, or a question of it that is not answered yet.
 */
import type { BoundedSessionInput } from '../../machines/connection.events.js';
import { RequestLostError, RpcError } from '../protocol/protocol-client.js';
import { TransportError } from '../transports/session-transport.js';
import { effect, withinLimit, type Nothing } from './effect.js';
import { lastWords, type EffectPorts } from './effect-ports.js';
import { requireClient } from './session-parts.js';

export function probe(ports: EffectPorts) {
  return effect<Nothing, BoundedSessionInput>(ports, {
    phase: 'session',
    details: lastWords(ports),
    run: async (key, signal) => {
      const { session, client } = requireClient(ports, key);
      const { activeAt } = session;
      try {
        await withinLimit(ports.clock, signal, key.limitMs, (inner) =>
          client.request('ping', {}, { signal: inner }),
        );
      } catch (error) {
        const isAlive = error instanceof RpcError || session.activeAt !== activeAt || session.isBusy;
        if (isAlive) return {};
        if (error instanceof RequestLostError) throw error;
        throw new TransportError({
          code: 'unresponsive',
          message: `The server did not answer a ping within ${key.limitMs} ms and was silent otherwise.`,
        });
      }
      return {};
    },
  });
}
