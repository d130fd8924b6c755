/**
 * One ping. Any sign of life counts as an answer: a pong, an error (a server need not know `ping`), a message of
 * another kind, a call in flight that the server may be busy with, or a question of it that is not answered yet.
 *
 * What comes in the place of an answer says nothing: an empty reply, a page or HTTP 500 may be of a server that does not
 * know `ping`, or of whatever stands before one that is gone. So it is asked for a list that it has given before.
 */
import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { BoundedSessionInput } from '../../machines/connection.events.js';
import { RequestLostError, RpcError, type ProtocolClient } from '../protocol/protocol-client.js';
import type { Session } from '../sessions.js';
import { TransportError, type RawFailure } from '../transports/session-transport.js';
import { effect, withinLimit, type Nothing } from './effect.js';
import { lastWords, type EffectPorts } from './effect-ports.js';
import { requireClient } from './session-parts.js';

/** By what a server declares to have. */
const LISTS = [
  ['tools', 'tools/list'],
  ['resources', 'resources/list'],
  ['prompts', 'prompts/list'],
] as const satisfies readonly (readonly [keyof ServerCapabilities, string])[];

export function probe(ports: EffectPorts) {
  return effect<Nothing, BoundedSessionInput>(ports, {
    phase: 'session',
    details: lastWords(ports),
    run: async (key, signal) => {
      const { session, client } = requireClient(ports, key);
      const { activeAt } = session;
      const isHeard = (): boolean => session.activeAt !== activeAt || session.maySayNothing;
      try {
        await withinLimit(ports.clock, signal, key.limitMs, (inner) => ask(session, client, isHeard, inner));
      } catch (error) {
        if (error instanceof RpcError || isHeard()) return {};
        if (error instanceof RequestLostError) throw new TransportError(asLoss(error.failure));
        throw new TransportError({
          code: 'unresponsive',
          message: `The server did not answer a ping within ${key.limitMs} ms and was silent otherwise.`,
        });
      }
      return {};
    },
  });
}

async function ask(
  session: Session,
  client: ProtocolClient,
  isHeard: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.request('ping', {}, { signal });
  } catch (error) {
    const list = LISTS.find(([declared]) => session.capabilities[declared] !== undefined)?.[1];
    const isDoubtful = error instanceof RequestLostError && session.isUsable && !isHeard();
    if (!isDoubtful || list === undefined) throw error;
    await client.request(list, {}, { signal }).catch((refused: unknown) => {
      throw refused instanceof RpcError ? refused : error;
    });
  }
}

/** What was there before can be there again: no reason never to look for it any more. */
function asLoss(failure: RawFailure): RawFailure {
  if (failure.code !== 'http-not-mcp') return failure;
  return { ...failure, code: 'unresponsive', message: `A ping got no answer: ${failure.message}` };
}
