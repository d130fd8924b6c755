/** A transport that the host makes, as the `server` of an in-process entry: its messages pass between two transports. */
import type { Transport } from '../mcp/transport.js';
import { messageOf, toError } from '../text/error-message.js';
import type { InProcessServerConfig } from '../config/entry/server-config.js';
import { TransportError } from '../failures/transport-error.js';
import type { LinkedEnd } from './in-process.js';

/**
 * Reaches a server over a transport of the host, such as a WebSocket or a message port: for the `server` of an in-process
 * entry. Supervision is the same as for other servers: a transport that closes, or that cannot send, ends the session, and
 * the next one gets a new transport.
 *
 * @param make Makes the transport of one session, not started: an object with `start`, `send` and `close` that calls
 *   `onmessage` and `onclose`, like the transports of the MCP SDK. The session fails with what it throws.
 *
 * @example
 * ```ts
 * import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';
 * import { createTroupe, ownTransport } from 'mcp-troupe';
 *
 * const server = ownTransport(() => new WebSocketClientTransport(new URL('wss://mcp.example.com')));
 * const troupe = createTroupe({ servers: { far: { type: 'in-process', server } } });
 * ```
 */
export function ownTransport(make: () => Transport | Promise<Transport>): InProcessServerConfig['server'] {
  if (typeof make !== 'function')
    throw new TypeError('ownTransport() takes a function that makes a transport.');
  return { connect: async (end: never) => join(end, await make()) };
}

/** Resolves when both are started; then each passes its messages to the other, and ends with it. */
async function join(end: LinkedEnd, own: Transport): Promise<void> {
  end.onmessage = (message) => {
    own.send(message).catch((error: unknown) => {
      void end.close({
        code: 'connection-lost',
        message: `The transport of the host could not send: ${messageOf(error)}`,
      });
    });
  };
  end.onclose = () => void own.close().catch(() => {});
  own.onmessage = (message) => void end.send(message).catch(() => {});
  own.onerror = (error) => end.onerror?.(toError(error));
  own.onclose = () =>
    void end.close({ code: 'connection-lost', message: 'The transport of the host was closed.' });
  try {
    await own.start();
  } catch (error) {
    await own.close().catch(() => {});
    throw new TransportError(
      { code: 'connection-lost', message: `The transport of the host did not start: ${messageOf(error)}` },
      { cause: error },
    );
  }
  await end.start();
}
