/**
 * Waits without a time limit until somebody has signed in. If Troupe cannot ask for a sign-in, waits until the state is
 * exited.
 *
 * The only publisher of `connection.authRequired`: as soon as the address is known, or at once if there will be none.
 */
import type { SessionKey } from '../../machines/connection/connection.events.js';
import { effect, type Nothing } from './effect.js';
import type { EffectPorts } from './effect-ports.js';

export function authorize(ports: EffectPorts) {
  return effect<Nothing, SessionKey>(ports, {
    phase: 'handshake',
    run: async ({ name, generation }, signal) => {
      const asked = (url: string | undefined): void =>
        ports.publish({
          type: 'connection.authRequired',
          server: name,
          generation,
          ...(url === undefined ? {} : { url }),
        });
      if (ports.signIns !== undefined) {
        await ports.signIns.signIn(name, asked, signal);
        return {};
      }
      asked(undefined);
      return new Promise<Nothing>(() => {});
    },
  });
}
