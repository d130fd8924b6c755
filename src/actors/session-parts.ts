/** The parts of a session that an effect needs. Throws if they are gone. */
import type { SessionKey } from '../../machines/connection/connection.events.js';
import type { ProtocolClient } from '../protocol/protocol-client.js';
import type { Session } from '../sessions/sessions.js';
import type { SessionTransport } from '../transports/session-transport.js';
import { TransportError } from '../failures/transport-error.js';
import type { EffectPorts } from './effect-ports.js';

function gone(key: SessionKey): TransportError {
  return new TransportError({
    code: 'connection-lost',
    message: `Session ${key.generation} of '${key.name}' is gone.`,
  });
}

export function requireTransport(
  ports: EffectPorts,
  key: SessionKey,
): { session: Session; transport: SessionTransport } {
  const session = ports.sessions.get(key);
  if (session?.transport === undefined) throw gone(key);
  return { session, transport: session.transport };
}

export function requireClient(
  ports: EffectPorts,
  key: SessionKey,
): { session: Session; client: ProtocolClient } {
  const session = ports.sessions.get(key);
  if (session?.client === undefined) throw gone(key);
  return { session, client: session.client };
}
