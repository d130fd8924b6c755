/**
 * Waits without a time limit until someone has signed in. If Troupe cannot ask for a sign-in, waits until the state is
 * exited.
 *
 * Publishes `connection.authRequired` as soon as the address is known, or at once if there will be none.
 */
import type { SessionKey } from '../../machines/connection/connection.events.js';
import { effect, type Nothing } from './effect.js';
import type { EffectPorts } from './effect-ports.js';

/** Publishes that a person can sign in, or that the sign-in has to happen elsewhere. */
export function publishAuthRequired(
  ports: Pick<EffectPorts, 'publish'>,
  { name, generation }: SessionKey,
  url: string | undefined,
): void {
  const address = url === undefined ? {} : { url };
  ports.publish({ type: 'connection.authRequired', server: name, generation, ...address });
}

export function authorize(ports: EffectPorts) {
  return effect<Nothing, SessionKey>(ports, {
    phase: 'handshake',
    run: async ({ name, generation }, signal) => {
      const asked = (url: string | undefined): void => publishAuthRequired(ports, { name, generation }, url);
      if (ports.signIns !== undefined) {
        await ports.signIns.signIn(name, asked, signal);
        return {};
      }
      asked(undefined);
      return new Promise<Nothing>(() => {});
    },
  });
}
