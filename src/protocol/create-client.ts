/** The protocol client of a new session, for one era. It loads when first needed. */
import type { Era } from '../../machines/policy/protocol-era.js';
import type { ProtocolClient, ProtocolClientOptions } from './protocol-client.js';

export async function createClient(era: Era, options: ProtocolClientOptions): Promise<ProtocolClient> {
  if (era === 'new') return (await import('./stateless-client.js')).createStatelessClient(options);
  const { createSessionClient } = await import('./session-client.js');
  return createSessionClient(options);
}
