/** Speaks `initialize` and `initialized`, tells which of them hung, and listens to what the server says from then on. */
import type {
  BoundedSessionInput,
  ExtraList,
  HandshakeOutput,
  ServerIdentity,
  SessionKey,
  Unsettled,
} from '../../machines/connection.events.js';
import { cutText } from '../cut-text.js';
import { RequestLostError, type JsonObject } from '../protocol/protocol-client.js';
import { maskJson, type Mask } from '../secrets.js';
import type { Session } from '../sessions.js';
import type { RawFailure } from '../transports/session-transport.js';
import { effect, type EffectSpec } from './effect.js';
import { diagnose, lastWords, type EffectPorts } from './effect-ports.js';
import type { KnownPlaces } from './known-places.js';
import { requireTransport } from './session-parts.js';

/** A server that sends nonsense can send it without end; a person needs to know of it once. */
const MOST_ODDITIES_TOLD = 20;

export function handshake(ports: EffectPorts, places: KnownPlaces) {
  return effect(ports, places.judging(ports.sessions, shakingHands(ports)));
}

export function shakingHands(
  ports: EffectPorts,
): EffectSpec<Unsettled<HandshakeOutput>, BoundedSessionInput> {
  /** The method that each session sent last. */
  const steps = new WeakMap<Session, string>();
  return {
    phase: 'handshake',
    limitMs: (input) => input.limitMs,
    expired: (key, limitMs) => {
      const session = ports.sessions.get(key);
      const step = session === undefined ? undefined : steps.get(session);
      return { code: 'handshake-timeout', ...whatHung(session, step, limitMs) };
    },
    details: lastWords(ports),
    run: async (key, signal) => {
      const { session, transport } = requireTransport(ports, key);
      const client = await ports.createClient(key.name);
      signal.throwIfAborted();
      session.client = client;
      client.onnotification = (method, params, origin) => {
        ports.onnotification?.({ server: key.name, method, params, origin });
        hear(ports, key, session, method, params);
      };
      client.onoddity = atMost(MOST_ODDITIES_TOLD, (message) =>
        diagnose(ports, key, 'protocol-oddity', message),
      );
      const ear = ports.wire?.ear(key);
      client.onwire = (direction, message) => {
        if (direction === 'sent' && 'method' in message) steps.set(session, String(message.method));
        ear?.(direction, message);
      };
      const { serverRequests } = ports;
      if (serverRequests !== undefined) {
        client.onrequest = (method, params, asked) => serverRequests.answer(session, method, params, asked);
      }
      try {
        const server = await client.open(transport, signal);
        client.onwire = ear;
        session.capabilities = server.capabilities;
        session.isInitialized = true;
        return { server: maskIdentity(server, ports.servers.mask(key.name)) };
      } catch (error) {
        if (error instanceof RequestLostError && transport.ended !== undefined) {
          throw new RequestLostError(explained(transport.ended), error.written);
        }
        throw error;
      }
    },
  };
}

/** A session that is not known right after it was given was mostly asked for at the wrong place. */
function explained(ended: RawFailure): RawFailure {
  if (ended.code !== 'session-expired') return ended;
  const hint =
    'It had just been given. Where several instances stand behind one address, they have to share their sessions, or a session has to stay with one of them.';
  return { hint, ...ended };
}

/** What is known of a server that let the time pass, and what helps. */
function whatHung(
  session: Session | undefined,
  step: string | undefined,
  limitMs: number,
): Pick<RawFailure, 'message' | 'hint'> {
  if (step !== undefined && step !== 'initialize') {
    return {
      message: `The server answered initialize, but did not take ${step} within ${limitMs} ms.`,
      hint: 'It speaks MCP, and got stuck in the middle of the handshake: its log may tell why. If it is slow, raise its timeout.',
    };
  }
  // This transport connects with its first message, and the first sign of life is the reply to that.
  if (session?.transport?.kind === 'http' && session.activeAt === 0) {
    return {
      message: `The server could not be reached within ${limitMs} ms, or did not answer initialize.`,
      hint: 'Nothing came from there: check its address, and the way to it (VPN, firewall, proxy). If it is slow, raise its timeout.',
    };
  }
  return {
    message: `The server did not answer initialize within ${limitMs} ms.`,
    hint: 'It started but does not speak MCP on this transport, or it starts slowly: raise its timeout.',
  };
}

/** Names of fields in the answer to `initialize` (MCP specification, schema) and in what is kept of it. */
const IDENTITY_NAMES: ReadonlySet<string> = new Set(
  (
    'info capabilities instructions name title version description websiteUrl icons src mimeType sizes theme ' +
    'completions experimental extensions logging prompts resources tasks tools listChanged subscribe ' +
    'list cancel requests call'
  ).split(' '),
);

/** What the server says of itself, without secrets; the version is one of ours. */
function maskIdentity({ protocolVersion, ...told }: ServerIdentity, mask: Mask): ServerIdentity {
  return { ...maskJson(told, mask, IDENTITY_NAMES), protocolVersion };
}

function atMost(times: number, tell: (message: string) => void): (message: string) => void {
  let told = 0;
  return (message) => {
    told += 1;
    if (told <= times) tell(told < times ? message : `${message} More of this session is not told.`);
  };
}

/** Which list the server says has changed, by the notification that says so. */
const CHANGED_LISTS: ReadonlyMap<string, 'tools' | ExtraList> = new Map([
  ['notifications/tools/list_changed', 'tools'],
  ['notifications/resources/list_changed', 'resources'],
  ['notifications/prompts/list_changed', 'prompts'],
]);

function hear(
  ports: EffectPorts,
  key: SessionKey,
  session: Session,
  method: string,
  params: JsonObject,
): void {
  const about = { connection: key.name, generation: key.generation };
  const mask = ports.servers.mask(key.name);
  const list = CHANGED_LISTS.get(method);
  if (list !== undefined) session.onlistchanged?.(list);
  if (method === 'notifications/resources/updated' && typeof params['uri'] === 'string') {
    ports.publish({ type: 'resource.updated', ...about, uri: cutText(mask(params['uri'])) });
  }
  if (method === 'notifications/elicitation/complete' && typeof params['elicitationId'] === 'string') {
    const elicitationId = cutText(mask(params['elicitationId']));
    ports.publish({ type: 'elicitation.completed', ...about, elicitationId });
  }
  if (method === 'notifications/message') {
    const { data, level } = params;
    ports.publish({
      type: 'server.log',
      ...about,
      stream: 'protocol',
      ...(typeof level === 'string' ? { level: cutText(mask(level)) } : {}),
      message: cutText(mask(typeof data === 'string' ? data : JSON.stringify(maskJson(data ?? null, mask)))),
    });
  }
}
