/** The protocol client of a new session. It loads when first needed. */
import type { ProtocolClient, ProtocolClientOptions } from './protocol-client.js';

export async function createClient(options: ProtocolClientOptions): Promise<ProtocolClient> {
  const { createSessionClient } = await import('./session-client.js');
  return createSessionClient(options);
}
