/**
 * One ping. Any sign of life counts as an answer: a pong, an error (a server need not know `ping`), any other message,
 * a call in flight that may keep the server busy, or a request of the server that is not answered yet.
 *
 * A reply that is no MCP message proves nothing: an empty body, a page or HTTP 500 may come from a server that does not
 * know `ping`, or from a proxy in front of a server that is gone. The probe then asks for a list that the server
 * declares.
 */
import type { ServerCapabilities } from '../mcp/session.js';
import type { BoundedSessionInput } from '../../machines/connection/connection.events.js';
import { RequestLostError, RpcError, type ProtocolClient } from '../protocol/protocol-client.js';
import type { Session } from '../sessions/sessions.js';
import { TransportError, type RawFailure } from '../failures/transport-error.js';
import { effect, type Nothing } from './effect.js';
import { withinLimit } from '../async/timers.js';
import { lastLines, type EffectPorts, requireClient } from './effect-ports.js';

/** By the declared capability. */
const LISTS = [
  ['tools', 'tools/list'],
  ['resources', 'resources/list'],
  ['prompts', 'prompts/list'],
] as const satisfies readonly (readonly [keyof ServerCapabilities, string])[];

export function probe(ports: EffectPorts) {
  return effect<Nothing, BoundedSessionInput>(ports, {
    phase: 'session',
    details: lastLines(ports),
    run: async (key, signal) => {
      const { session, client } = requireClient(ports, key);
      const { activeAt } = session;
      const isHeard = (): boolean => session.activeAt !== activeAt || session.mayBeSilent;
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

/** The server spoke MCP at this address before, so it may come back. The loss must not count as permanent. */
function asLoss(failure: RawFailure): RawFailure {
  if (failure.code !== 'http-not-mcp') return failure;
  return { ...failure, code: 'unresponsive', message: `A ping got no answer: ${failure.message}` };
}
