/**
 * Opens the transport of a new session. First, every other session of the connection must be gone, except the one that
 * it replaces. The session is registered before its transport exists, so that a release finds it.
 */
import type { HttpAuth } from '../transports/http/session-requests.js';
import { publishAuthRequired } from './authorize.js';
import type {
  OpenTransportInput,
  OpenTransportOutput,
  Unsettled,
} from '../../machines/connection/connection.events.js';
import type { ServerConfig } from '../config/entry/server-config.js';
import type { TransportTerms } from '../transports/create-transport.js';
import type { HttpMemory } from '../transports/http/http-session.js';
import type { Session } from '../sessions/sessions.js';
import type { SessionTransport } from '../transports/session-transport.js';
import { TransportError } from '../failures/transport-error.js';
import { adviceOnFolder, attemptDetails, diagnose, type EffectPorts } from './effect-ports.js';
import { effect, toRawFailure } from './effect.js';
import type { Failure } from '../../machines/policy/failure.js';
import { maskFailure } from '../secrets/secrets.js';
import { notReleased } from './end-session.js';
import { LEASE_LOST } from '../transports/run-term.js';
import type { LaunchPlan, LaunchPlans } from '../sessions/launch-plans.js';

export function openTransport(ports: EffectPorts, plans: LaunchPlans) {
  /** By server and address. */
  const memories = new Map<string, HttpMemory>();
  const memoryOf = (name: string, config: ServerConfig): HttpMemory | undefined => {
    if (!('url' in config)) return undefined;
    const key = `${name}\n${config.url}`;
    const memory = memories.get(key) ?? { forgotten: 0, isStreamDisabled: false };
    memories.set(key, memory);
    return memory;
  };
  return effect<Unsettled<OpenTransportOutput>, OpenTransportInput>(ports, {
    phase: 'launch',
    limitMs: (input) => input.limitMs,
    expired: (key, limitMs) =>
      ports.sessions.get(key) === undefined
        ? notReleased(limitMs)
        : {
            code: 'launch-timeout',
            message: `The server could not be reached within ${limitMs} ms.`,
            hint: 'Raise the startTimeoutMs of this server if it is known to start slowly.',
          },
    details: attemptDetails(ports),
    advice: adviceOnFolder(ports),
    run: async (key, signal) => {
      const left = await ports.sessions.closeAllBut(key.name, key.replaces);
      if (left !== undefined) throw new TransportError(left);
      signal.throwIfAborted();
      const plan = plans.take(key);
      if (plan === undefined) {
        throw new TransportError({
          code: 'internal',
          message: 'There is no resolved configuration to launch.',
        });
      }
      const session = ports.sessions.begin(key, plan);
      const transport = await ports.createTransport(plan.config, {
        stop: ports.servers.settings(key.name).policy.stop,
        clock: ports.clock,
        mask: ports.servers.mask(key.name),
        limits: ports.servers.settings(key.name).limits,
        auth: offering(ports, session, await ports.signIns?.credentials(key.name, plan.config)),
        network: networkOf(ports, key.name, plan),
        term: plan.place?.term,
        memory: memoryOf(key.name, plan.config),
        helper: {
          server: key.name,
          folder: plan.folder,
          remember: (secrets) => ports.servers.remember(key.name, secrets),
          signal,
        },
      });
      await hand(transport, session);
      if (plan.place?.isCurrent() === false) throw new TransportError(LEASE_LOST);
      listen(ports, key, transport);
      await transport.start();
      return { transport: transport.kind, pid: transport.pid ?? null, url: shownUrl(ports, key, transport) };
    },
  });
}

function networkOf(
  { network }: EffectPorts,
  name: string,
  { config, place }: LaunchPlan,
): TransportTerms['network'] {
  if (network === undefined || !('url' in config)) return undefined;
  const { sign } = place ?? {};
  return sign === undefined ? () => network(name, config) : async () => sign(await network(name, config));
}

/** The same credentials. If one request is refused for lack of scope, a person can sign in while the session continues. */
function offering(ports: EffectPorts, session: Session, auth: HttpAuth | undefined): HttpAuth | undefined {
  const { signIns } = ports;
  if (auth?.stepUp === undefined || signIns === undefined) return auth;
  const { key } = session;
  const { name: server, generation } = key;
  let isOffered = false;
  const failureOf = (error: unknown): Failure => {
    const failure = { ...toRawFailure(error), phase: 'session', at: ports.clock.now() } as const;
    return maskFailure(failure, ports.servers.mask(server));
  };
  const offer = async (): Promise<void> => {
    const over = new AbortController();
    void session.gone.then(() => over.abort());
    const asked = (url: string | undefined): void => publishAuthRequired(ports, key, url);
    const failure = await signIns.signIn(server, asked, over.signal).then(() => null, failureOf);
    if (!over.signal.aborted) ports.publish({ type: 'connection.authSettled', server, generation, failure });
  };
  return {
    token: () => auth.token(),
    refresh: (details, refused) => auth.refresh(details, refused),
    refused: (token) => auth.refused?.(token),
    stepUp: async (challenge, refused) => (await auth.stepUp?.(challenge, refused)) ?? 'hopeless',
    offerSignIn: () => {
      if (isOffered) return;
      isOffered = true;
      void offer().finally(() => (isOffered = false));
    },
  };
}

/** A session that is closing by now takes no transport, so the transport is closed here. */
async function hand(transport: SessionTransport, session: Session): Promise<void> {
  try {
    session.own(transport);
  } catch (error) {
    await transport.close();
    throw error;
  }
}

/** The path of an address may hold a secret. */
function shownUrl(ports: EffectPorts, key: OpenTransportInput, { url }: SessionTransport): string | null {
  return url === undefined ? null : ports.servers.mask(key.name)(url);
}

function listen(ports: EffectPorts, key: OpenTransportInput, transport: SessionTransport): void {
  const { name, generation } = key;
  transport.onstderr = (message) =>
    ports.publish({ type: 'server.log', server: name, generation, stream: 'stderr', message });
  transport.onnotice = (notice) => diagnose(ports, key, notice.kind, notice.message);
  transport.onactivity = () => {
    const session = ports.sessions.get(key);
    if (session !== undefined) session.activeAt = ports.clock.now();
  };
}
