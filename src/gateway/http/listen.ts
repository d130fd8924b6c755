/** Opens the port of an HTTP server. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError } from '../../errors.js';
import { reasonOf } from '../../text/error-message.js';

/** The system's codes for an unknown address. */
const NO_ADDRESS: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL']);

/** Resolves with the port. Throws a `ConfigError` that says what to do. */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  const listening = once(server, 'listening');
  server.listen(port, host);
  try {
    await listening;
  } catch (error) {
    const code = reasonOf(error);
    const message = NO_ADDRESS.has(code)
      ? `${host} is not an address of this computer (${code}): give one such as 127.0.0.1 or 0.0.0.0.`
      : `Port ${port} of ${host} is not available (${code}): free it, or choose another.`;
    throw new ConfigError(message, { cause: error });
  }
  return (server.address() as AddressInfo).port;
}
