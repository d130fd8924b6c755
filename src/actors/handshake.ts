/**
 * Opens the exchange with the server in the era that it speaks, reports which step hung, and from then
 * on publishes the server's notifications. Longer than 300 lines because the choice of the era is part of the handshake.
 */
import type {
  BoundedSessionInput,
  ExtraList,
  HandshakeOutput,
  ServerIdentity,
  Unsettled,
} from '../../machines/connection/connection.events.js';
import { isDeeperThan, jsonSize, MAX_DEPTH } from '../json/parse-json.js';
import { settlesWithin, isLimit, LimitOver, withinLimit } from '../async/timers.js';
import { cutText } from '../text/visible-text.js';
import type { JsonObject } from '../json/json-object.js';
import {
  METHOD_NOT_FOUND,
  RequestLostError,
  RpcError,
  type Asked,
  type ClientOwner,
  type ProtocolClient,
  type ProtocolFailure,
  type RequestOrigin,
} from '../protocol/protocol-client.js';
import { maskJson, type Mask } from '../secrets/secrets.js';
import type { Session } from '../sessions/sessions.js';
import type { RawFailure } from '../failures/transport-error.js';
import { mayDownload } from '../config/entry/effective-settings.js';
import { causeHint } from '../failures/output.js';
import { effect, toRawFailure } from './effect.js';
import {
  adviceOnFolder,
  attemptDetails,
  diagnose,
  type EffectPorts,
  requireTransport,
} from './effect-ports.js';
import { eraOf, type Era } from '../../machines/policy/protocol-era.js';
import { disprovesEra, eraAfterSilence, firstEra, judgeEra, silenceLimit } from '../protocol/era.js';
import type { SessionTransport } from '../transports/session-transport.js';
import { asText } from '../text/as-text.js';

/** A server that sends nonsense may send it without end; these are enough for a person. */
const MAX_ODDITIES_TOLD = 20;

export function handshake(ports: EffectPorts) {
  /** The method that each session sent last. */
  const steps = new WeakMap<Session, string>();
  return effect<Unsettled<HandshakeOutput>, BoundedSessionInput>(ports, {
    phase: 'handshake',
    limitMs: (input) => input.limitMs,
    expired: (key, limitMs) => {
      const session = ports.sessions.get(key);
      const step = session === undefined ? undefined : steps.get(session);
      const failure = (): RawFailure => ({ code: 'handshake-timeout', ...whatHung(session, step, limitMs) });
      return session?.transport?.kind === 'stdio' ? lastWords(ports, session).then(failure) : failure();
    },
    details: attemptDetails(ports),
    advice: adviceOnFolder(ports),
    run: async (key, signal) => {
      const { session, transport } = requireTransport(ports, key);
      const attach = (client: ProtocolClient): void => {
        session.client = client;
        client.owner = new SessionReports(ports, session);
        const ear = ports.wire?.ear(key);
        client.onwire = (direction, message) => {
          if (direction === 'sent' && 'method' in message) steps.set(session, asText(message.method));
          ear?.(direction, message);
        };
      };
      try {
        const { client, server } = await openInEra(ports, key, session, { transport, attach, signal });
        client.onwire = ports.wire?.ear(key);
        session.capabilities = server.capabilities;
        session.isInitialized = true;
        return { server: maskIdentity(server, ports.servers.mask(key.name)) };
      } catch (error) {
        if (error instanceof RequestLostError && transport.ended !== undefined) {
          throw new RequestLostError(transport.ended, error.written);
        }
        throw error;
      }
    },
  });
}

/** Publishes what a client reports. */
class SessionReports implements ClientOwner {
  #oddities = 0;

  constructor(
    private readonly ports: EffectPorts,
    private readonly session: Session,
  ) {}

  async onrequest(method: string, params: JsonObject, asked: Asked): Promise<JsonObject> {
    const { serverRequests } = this.ports;
    if (serverRequests === undefined) throw new RpcError(METHOD_NOT_FOUND, 'Method not found', undefined);
    return serverRequests.answer(this.session, method, params, asked);
  }

  onnotification(method: string, params: JsonObject, origin: RequestOrigin | undefined): void {
    const { ports, session } = this;
    ports.onnotification?.({ server: session.key.name, method, params, origin });
    publishNotification(ports, session, method, params);
  }

  onoddity(message: string): void {
    this.#oddities += 1;
    if (this.#oddities > MAX_ODDITIES_TOLD) return;
    const end = this.#oddities < MAX_ODDITIES_TOLD ? '' : ' Further ones in this session are not reported.';
    diagnose(this.ports, this.session.key, 'protocol-oddity', `${message}${end}`);
  }

  oninterest(): void {
    this.session.signal({ kind: 'interest' });
  }

  /** The server has changed: it is asked again in the era that it names, or in either. */
  onrefused({ versions }: ProtocolFailure): void {
    const { ports, session } = this;
    const isOld = versions.some((version) => eraOf(version) === 'old');
    ports.eras.keep(session.place, isOld ? 'old' : undefined);
  }
}

/** Many programs report what they were waiting for only when they are terminated. Never rejects. */
async function lastWords({ clock, servers }: EffectPorts, session: Session): Promise<void> {
  const { stdinEndMs, termMs } = servers.settings(session.key.name).policy.stop;
  await settlesWithin(clock, stdinEndMs + termMs, session.close());
}

/** What is known of a server that did not answer in time, and what may help. */
function whatHung(
  session: Session | undefined,
  step: string | undefined,
  limitMs: number,
): Pick<RawFailure, 'message' | 'hint'> {
  if (step !== undefined && step !== 'initialize' && step !== 'server/discover') {
    return {
      message: `The server answered initialize, but did not take ${step} within ${limitMs} ms.`,
      hint: 'It speaks MCP and got stuck during the handshake: see its log. If it is slow, raise its startTimeoutMs.',
    };
  }
  // This transport connects with its first message; the reply to that is the first sign of life.
  if (session?.transport?.kind === 'http' && session.activeAt === 0) {
    return {
      message: `The server could not be reached within ${limitMs} ms, or did not answer ${step ?? 'initialize'}.`,
      hint: 'Nothing was received: check its address and the network (VPN, firewall, proxy). If it is slow, raise its startTimeoutMs.',
    };
  }
  const { transport, plan } = session ?? {};
  const isFetched = plan !== undefined && 'command' in plan.config && mayDownload(plan.config);
  return {
    message: `The server did not answer ${step ?? 'initialize'} within ${limitMs} ms.`,
    hint:
      hintOfOutput(transport?.stderrTail() ?? [], transport?.stdoutTail?.() ?? []) ??
      (isFetched ? DOWNLOADING : SILENT),
  };
}

/** An address at which it serves HTTP says the most; an error comes next. */
function hintOfOutput(stderr: readonly string[], stdout: readonly string[]): string | undefined {
  const place = listeningPlace([...stderr, ...stdout]);
  if (place !== undefined)
    return `It listens on ${place}: use that address as the "url" of the entry, or start it with an argument such as --stdio.`;
  const cause = causeHint(stderr, stdout);
  if (cause === undefined) return undefined;
  const strange = stdout.length > 0 ? ONLY_MESSAGES : '';
  return `${cause}.${strange} If it starts slowly, raise its startTimeoutMs.`;
}

const ONLY_MESSAGES = ' Only MCP messages belong on stdout: it may need an argument such as --stdio.';
const SILENT =
  'It started but does not speak MCP on this transport, or it starts slowly: raise its startTimeoutMs.';
const DOWNLOADING =
  'Its command may still have been downloading the program: raise its startTimeoutMs, or install the program first.';

const LISTENS = /\b(?:listen|running|serving|serves|started|available|server)/i;
const ADDRESS = /\bhttps?:\/\/[^\s"'<>()]+[^\s"'<>().,;]|\bport:? \d{2,5}\b/i;

/** An address or a port. */
function listeningPlace(lines: readonly string[]): string | undefined {
  const line = lines.findLast((each) => LISTENS.test(each) && ADDRESS.test(each));
  return ADDRESS.exec(line ?? '')?.[0];
}

/** Names of fields in the answer to `initialize` (MCP specification, schema) and in the part of it that is kept. */
const IDENTITY_NAMES: ReadonlySet<string> = new Set(
  (
    'info capabilities instructions name title version description websiteUrl icons src mimeType sizes theme ' +
    'completions experimental extensions logging prompts resources tasks tools listChanged subscribe ' +
    'list cancel requests call'
  ).split(' '),
);

/** What the server says of itself, with secrets masked. The version is one that this client offers. */
function maskIdentity({ protocolVersion, ...others }: ServerIdentity, mask: Mask): ServerIdentity {
  return { protocolVersion, ...maskJson(others, mask, IDENTITY_NAMES) };
}

/** The list that has changed, by the notification that says so. */
const CHANGED_LISTS: ReadonlyMap<string, 'tools' | ExtraList> = new Map([
  ['notifications/tools/list_changed', 'tools'],
  ['notifications/resources/list_changed', 'resources'],
  ['notifications/prompts/list_changed', 'prompts'],
]);

/** MCP specification 2025-11-25, schema: `ServerNotification`. */
const KNOWN_NOTIFICATIONS: ReadonlySet<string> = new Set([
  ...CHANGED_LISTS.keys(),
  'notifications/resources/updated',
  'notifications/elicitation/complete',
  'notifications/message',
]);
/** Longest parameters that are published, in characters of JSON. */
const MAX_SHOWN = 65_536;

function publishNotification(ports: EffectPorts, session: Session, method: string, params: JsonObject): void {
  const { key } = session;
  const about = { server: key.name, generation: key.generation };
  const mask = ports.servers.mask(key.name);
  const list = CHANGED_LISTS.get(method);
  if (list !== undefined) session.signal({ kind: 'listChanged', list });
  if (method === 'notifications/resources/updated' && typeof params['uri'] === 'string') {
    ports.publish({ type: 'resource.updated', ...about, uri: cutText(mask(params['uri'])) });
  }
  if (method === 'notifications/elicitation/complete' && typeof params['elicitationId'] === 'string') {
    const elicitationId = cutText(mask(params['elicitationId']));
    ports.publish({ type: 'elicitation.completed', ...about, elicitationId });
  }
  if (!KNOWN_NOTIFICATIONS.has(method)) {
    const isShown = jsonSize(params, MAX_SHOWN) <= MAX_SHOWN && !isDeeperThan(MAX_DEPTH, params);
    const shown = isShown ? { params: maskJson(params, mask) } : {};
    ports.publish({ type: 'server.notification', ...about, method: cutText(mask(method), 200), ...shown });
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

// Opens a client in the era that its server speaks: the first one by `protocol` of the entry and by what is known, and the
// other one if the failure says that it may help (`src/protocol/era.ts`). Both over the same transport: no process is
// started only to ask.
//
// V1. At most one try in each era. Only an era in which the server did not answer in time is tried again, if the other one is refused.
//     Within a try, a server that refuses the very version that it names is asked once more (`stateless-client.ts`).
// V2. If both fail, the error of the second counts, unless it only says that the era is wrong. If each names the other one,
//     the error of the old era counts.
// V3. A verdict is kept if a server opened, and with its cached lists for the next process. A program that was silent or gone is asked in the other era by its next process.

interface Opening {
  readonly transport: SessionTransport;
  /** Called with each client before it opens. */
  readonly attach: (client: ProtocolClient) => void;
  readonly signal: AbortSignal;
}

interface Opened {
  readonly client: ProtocolClient;
  readonly server: ServerIdentity;
}

/** Rejects with the error of a client, or with what it was thrown if no era opens. */
export async function openInEra(
  ports: EffectPorts,
  key: BoundedSessionInput,
  session: Session,
  { transport, attach, signal }: Opening,
): Promise<Opened> {
  const { eras, clock } = ports;
  const choice = ports.servers.settings(key.name).protocol;
  const isFree = choice === 'auto';
  const server = session.place;
  if (isFree) eras.restore(server, ports.cache?.eraOf(session.plan.cacheKey));
  const known = isFree ? eras.get(server)?.era : undefined;
  const first = firstEra(choice, transport.kind, known);
  let firstId = 0;

  const open = async (era: Era, limitMs = 0): Promise<Opened> => {
    const client = await ports.createClient(key.name, era, firstId);
    signal.throwIfAborted();
    attach(client);
    try {
      return {
        client,
        server: await withinLimit(clock, signal, limitMs, (inner) => client.open(transport, inner)),
      };
    } finally {
      firstId = (client.lastRequestId ?? firstId - 1) + 1;
    }
  };

  const openEither = async (): Promise<readonly [Era, Opened]> => {
    const mayHang = isFree && first === 'new' && isLimit(key.limitMs);
    try {
      return [first, await open(first, mayHang ? silenceLimit(transport.kind, key.limitMs) : 0)];
    } catch (error) {
      const verdict = isFree && !signal.aborted ? judgeEra(first, error, transport.kind) : 'neither';
      if (verdict === 'neither') throw error;
      const other = first === 'new' ? 'old' : 'new';
      try {
        return [other, await open(other)];
      } catch (again) {
        if (signal.aborted || judgeEra(other, again, transport.kind) === 'neither') throw again;
        if (error instanceof LimitOver) return [first, await open(first)];
        throw first === 'new' && verdict === 'other' ? again : error;
      }
    }
  };

  try {
    const [era, opened] = await openEither();
    if (isFree) eras.keep(server, era);
    return opened;
  } catch (error) {
    const isSilent = transport.kind === 'stdio' && (hasExpired(signal) || transport.ended !== undefined);
    if (isSilent) eras.keep(server, eraAfterSilence(first, known));
    else if (!signal.aborted && disprovesEra(toRawFailure(error))) eras.keep(server, undefined);
    throw error;
  }
}

function hasExpired(signal: AbortSignal): boolean {
  return signal.reason instanceof LimitOver;
}
