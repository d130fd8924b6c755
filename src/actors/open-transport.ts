/**
 * Opens the transport of a new session. The session is registered first, so that whoever releases it finds it; and
 * before that, whatever an earlier session of the connection left has to be gone.
 */
import type {
  BoundedSessionInput,
  OpenTransportOutput,
  Unsettled,
} from '../../machines/connection.events.js';
import type { ServerConfig } from '../options.js';
import type { Released, Session } from '../sessions.js';
import { TransportError, type SessionTransport } from '../transports/session-transport.js';
import { effect, type EffectSpec } from './effect.js';
import { notReleased } from './end-session.js';
import { diagnose, lastWords, type EffectPorts } from './effect-ports.js';
import type { KnownPlaces } from './known-places.js';
import type { LaunchPlans } from './launch-plans.js';

type Opening = EffectSpec<Unsettled<OpenTransportOutput>, BoundedSessionInput>;

export function openTransport(ports: EffectPorts, plans: LaunchPlans, places: KnownPlaces) {
  const ways = {
    clear: ({ name }: BoundedSessionInput) => ports.sessions.close(name),
    config: ({ name }: BoundedSessionInput) => plans.get(name),
  };
  return effect(ports, places.judging(ports.sessions, opening(ports, ways)));
}

/** `clear` ends what may not be there any more when the session begins. */
export function opening(
  ports: EffectPorts,
  ways: {
    readonly clear: (key: BoundedSessionInput) => Promise<Released>;
    readonly config: (key: BoundedSessionInput) => ServerConfig | undefined;
  },
): Opening {
  return {
    phase: 'launch',
    limitMs: (input) => input.limitMs,
    expired: (key, limitMs) =>
      ports.sessions.get(key) === undefined
        ? notReleased(limitMs)
        : {
            code: 'launch-timeout',
            message: `The server could not be reached within ${limitMs} ms.`,
            hint: 'Raise the timeout of this server if it is known to start slowly.',
          },
    details: lastWords(ports),
    run: async (key, signal) => {
      const left = await ways.clear(key);
      if (left !== undefined) throw new TransportError(left);
      signal.throwIfAborted();
      const session = ports.sessions.begin(key);
      session.cacheKey = ports.servers.cacheKey(key.name);
      session.reviewed = ports.reviews?.target(key.name);
      const config = ways.config(key);
      if (config === undefined) {
        throw new TransportError({
          code: 'internal',
          message: 'There is no resolved configuration to launch.',
        });
      }
      const transport = await ports.createTransport(config, {
        stop: ports.servers.stopPolicy(key.name),
        clock: ports.clock,
        mask: ports.servers.mask(key.name),
        auth: await ports.signIns?.credentials(key.name, config),
      });
      await hand(transport, session);
      listen(ports, key, transport);
      await transport.start();
      return { transport: transport.kind, pid: transport.pid ?? null, url: shownUrl(ports, key, transport) };
    },
  };
}

/** A session that was told to close meanwhile takes no transport: this one ends here. */
async function hand(transport: SessionTransport, session: Session): Promise<void> {
  try {
    session.own(transport);
  } catch (error) {
    await transport.close();
    throw error;
  }
}

/** A secret may stand in the path of an address. */
function shownUrl(ports: EffectPorts, key: BoundedSessionInput, { url }: SessionTransport): string | null {
  return url === undefined ? null : ports.servers.mask(key.name)(url);
}

function listen(ports: EffectPorts, key: BoundedSessionInput, transport: SessionTransport): void {
  const { name, generation } = key;
  transport.onstderr = (message) =>
    ports.publish({ type: 'server.log', connection: name, generation, stream: 'stderr', message });
  transport.onnotice = (notice) => diagnose(ports, key, notice.kind, notice.message);
  transport.onactivity = () => {
    const session = ports.sessions.get(key);
    if (session !== undefined) session.activeAt = ports.clock.now();
  };
  transport.ondoubt = () => ports.sessions.get(key)?.ondoubt?.();
}
