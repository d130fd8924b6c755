/**
 * Opens the stream on which a server of the new era reports changes, in place of an earlier one. The end of the stream
 * becomes a signal of its session.
 */
import type {
  BoundedSessionInput,
  SubscribeOutput,
  Unsettled,
} from '../../machines/connection/connection.events.js';
import { diagnose, type EffectPorts } from './effect-ports.js';
import { effect, whyFailed } from './effect.js';
import { requireClient } from './session-parts.js';

export function subscribe(ports: EffectPorts) {
  return effect<Unsettled<SubscribeOutput>, BoundedSessionInput>(ports, {
    phase: 'session',
    limitMs: (input) => input.limitMs,
    expired: (_, limitMs) => ({
      code: 'unresponsive',
      message: `The server did not acknowledge the stream of changes within ${limitMs} ms.`,
    }),
    run: async (key, signal) => {
      const { session, client } = requireClient(ports, key);
      session.listening = undefined;
      try {
        const listening = await client.listen?.(signal);
        session.listening = listening;
        void listening?.over.then(() => {
          if (session.listening === listening) session.signal({ kind: 'unheard' });
        });
        return { isOpen: listening !== undefined };
      } catch (error) {
        const why = whyFailed(error, signal);
        if (why !== undefined) {
          const message = `The server does not report changes of its lists: ${why}`;
          diagnose(ports, key, 'no-listening-stream', message);
        }
        throw error;
      }
    },
  });
}
