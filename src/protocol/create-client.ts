/** The protocol client of a new session. It loads when first needed. */
import type { ProtocolClient, ProtocolClientOptions } from './protocol-client.js';

export async function createClient(options: ProtocolClientOptions): Promise<ProtocolClient> {
  const { createSdkV1Client } = await import('./sdk-v1.js');
  return createSdkV1Client(options);
}
