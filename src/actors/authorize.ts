/**
 * Waits for a person to sign in. The session is released first; nothing else runs meanwhile, and the wait ends only
 * when the state is left.
 */
import type { SessionKey } from '../../machines/connection.events.js';
import { effect, type Nothing } from './effect.js';
import type { EffectPorts } from './effect-ports.js';

export function authorize(ports: EffectPorts) {
  return effect<Nothing, SessionKey>(ports, {
    phase: 'handshake',
    run: async ({ name }) => {
      await ports.sessions.close(name);
      return new Promise<Nothing>(() => {});
    },
  });
}
