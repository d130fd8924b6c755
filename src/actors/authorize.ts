/**
 * Waits until somebody has signed in. The session is released first; no clock runs meanwhile. Where nobody is there to
 * sign in, the wait ends only when the state is left.
 */
import type { SessionKey } from '../../machines/connection.events.js';
import { TransportError } from '../transports/session-transport.js';
import { effect, type Nothing } from './effect.js';
import type { EffectPorts } from './effect-ports.js';

export function authorize(ports: EffectPorts) {
  return effect<Nothing, SessionKey>(ports, {
    phase: 'handshake',
    run: async ({ name, generation }, signal) => {
      const left = await ports.sessions.close(name);
      if (left !== undefined) throw new TransportError(left);
      if (ports.signIns === undefined) return new Promise<Nothing>(() => {});
      const tell = (url: string): void =>
        ports.publish({ type: 'connection.authRequired', connection: name, generation, url });
      await ports.signIns.signIn(name, tell, signal);
      return {};
    },
  });
}
