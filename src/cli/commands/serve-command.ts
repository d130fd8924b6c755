/**
 * `troupe serve`: all servers as one MCP server, for one client on stdin and stdout or for many over HTTP. Longer than 300
 * lines because both kinds of service share their end.
 *
 * S1. On stdin and stdout, stdout carries protocol messages only.
 * S2. Without any configured server, it serves none, and adds one as soon as it is configured. An editor that starts
 *     this command would otherwise only show a failure that nobody reads.
 * S3. A signal lets calls in flight finish within the drain time; a second one aborts them and kills the servers.
 * S4. It does not start itself: it exits if a gateway of the same servers has started it, directly or through others.
 * S5. A client that reads nothing does not hold up the exit: if it reads nothing for some seconds, its unread messages
 *     are dropped.
 * S6. Over HTTP, a client needs a token, unless the user says otherwise: every other user and every sandboxed program of
 *     the machine can reach 127.0.0.1.
 */
import { once } from 'node:events';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { createGateway, type Gateway } from '../../gateway/gateway.js';
import type { DrainOptions } from '../../gateway/drain.js';
import type { ProtectedResource } from '../../gateway/http/http-oauth.js';
import type { ServeHttpOptions } from '../../gateway/http/serve-http-options.js';
import { isLoopback } from '../../text/host-reach.js';
import { systemClock } from '../../ports.js';
import { readConfiguration, sourcesOf } from '../configured-servers.js';
import { EXIT, type ExitCode, UsageError, listenForStop } from '../exit.js';
import type { Flags } from '../arguments/flags.js';
import { toTroupeOptions } from '../make-troupe.js';
import { userStore } from '../../config/files/user-store.js';
import { messageOf } from '../../text/error-message.js';
import { gatewayToken } from '../gateway-token.js';
import type { OfferMode } from '../../search/offer.js';
import { ServeLog } from '../serve-log.js';
import type { Terminal } from '../output/terminal.js';
import { opened } from '../taken-port.js';
import { registeredTelemetry } from '../registered-telemetry.js';
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { canonicalJson } from '../../json/write-json.js';
import { ConfigError } from '../../errors.js';
import { SERVE_CHAIN_VARIABLE } from '../../transports/stdio/child-environment.js';
import { homeFolder } from '../../storage/folders.js';

export interface ServeFlags extends Flags {
  /** The port, or `true` for any free port. */
  readonly http?: number | true;
  readonly host?: string;
  /** False: no token is needed. */
  readonly token?: string | false;
  readonly oauthIssuer?: readonly string[];
  readonly publicUrl?: string;
  readonly bare?: boolean;
  readonly failClosed?: boolean;
  readonly adminTools?: boolean;
  readonly offer: OfferMode;
  readonly offerTokens?: number;
  readonly allowOrigin?: readonly string[];
  readonly allowHost?: readonly string[];
  /** Milliseconds. */
  readonly gracePeriod: number;
}

/** What stdio and HTTP services have in common. */
interface Service {
  /** Resolves when its only client is gone; never if there may be other clients. */
  readonly closed: Promise<void>;
  close(options?: DrainOptions): Promise<void>;
}

const TOKEN_VARIABLE = 'TROUPE_SERVE_TOKEN';
const FLAG_NAMES = {
  host: '--host',
  token: '--token',
  oauthIssuer: '--oauth-issuer',
  publicUrl: '--public-url',
  allowOrigin: '--allow-origin',
  allowHost: '--allow-host',
} as const;
const NO_SERVER =
  'No server is configured, so there are no tools yet. Add servers to a configuration file that Troupe finds, or use --config FILE.';
const OF_HTTP = ['host', 'token', 'oauthIssuer', 'publicUrl', 'allowOrigin', 'allowHost'] as const;
const NEVER = new Promise<void>(() => {});
/** A client that reads at all reads something within this time, milliseconds. */
const STALLED_READER_MS = 2_000;

/** `EXIT.fine` if the client left or a signal stopped it. */
export async function serve(
  flags: ServeFlags,
  terminal: Terminal,
  stdin: NodeJS.ReadableStream,
): Promise<ExitCode> {
  checkFlags(flags);
  const leaveChain = joinServeChain(flags, process.env, process.cwd());
  try {
    return await serveServers(flags, terminal, stdin);
  } finally {
    leaveChain();
  }
}

async function serveServers(
  flags: ServeFlags,
  terminal: Terminal,
  stdin: NodeJS.ReadableStream,
): Promise<ExitCode> {
  const configuration = await readConfiguration(flags, { mayBeEmpty: flags.bare !== true });
  const { names, warnings } = configuration;
  const { bare = false, failClosed = false, adminTools = false, offer: mode, offerTokens: maxTokens } = flags;
  if (bare && names.length !== 1)
    throw new UsageError(`--bare is for one server, and there are ${names.length}: ${names.join(', ')}`);
  const log = new ServeLog(terminal, systemClock, flags.verbose, warnings);
  if (names.length === 0) log.warn(NO_SERVER);
  const options = toTroupeOptions(flags, configuration, { watch: true });
  const telemetry = await registeredTelemetry((why) => log.warn(why));
  const gateway = createGateway({
    ...options,
    bare,
    failClosed,
    adminTools,
    offer: { mode, ...(maxTokens !== undefined && { maxTokens }) },
    singleClient: flags.http === undefined,
    logger: log,
    ...(telemetry !== undefined && { telemetry }),
  });
  const broken = new AbortController();
  const events = gateway.events$.subscribe((event) => {
    log.event(event);
    if (event.type === 'manager.failed' && event.session === undefined) broken.abort();
  });
  const stop = new AbortController();
  const exitCode = (): ExitCode => (broken.signal.aborted ? EXIT.failed : EXIT.fine);
  let service: Service | undefined;
  let isOver = false;
  const stopListening = listenForStop(process, systemClock, (press) => {
    log.info(press === 1 ? 'Stopping; calls in flight may finish.' : 'Stopping at once.');
    stop.abort();
    if (press > 1) void Promise.all([service?.close({ gracePeriodMs: 0 }), gateway.kill()]);
  });
  try {
    service = await open(gateway, flags, { log, terminal, stdin });
    gateway.start().then(
      () => log.started(),
      (error: unknown) => {
        if (isOver) return;
        log.error(`The servers could not be started: ${messageOf(error)}`);
        broken.abort();
      },
    );
    await Promise.race([service.closed, aborted(AbortSignal.any([stop.signal, broken.signal]))]);
    await service.close();
    return exitCode();
  } finally {
    isOver = true;
    await gateway.close({ requestDrainMs: 0 });
    stopListening();
    events.unsubscribe();
    if (flags.http === undefined) dropUnread(terminal.stdout as Writable, exitCode(), log);
  }
}

/** An unread pipe keeps its process alive forever. For a slow reader, the timeout starts again with each read. */
function dropUnread(output: Writable, code: ExitCode, log: ServeLog): void {
  if (!(output instanceof Socket) || output.destroyed || output.writableLength === 0) return;
  output.setTimeout(STALLED_READER_MS, () => {
    log.warn('The client does not read: its unread messages are dropped.');
    process.exit(code);
  });
}

interface Environment {
  readonly log: ServeLog;
  readonly terminal: Terminal;
  readonly stdin: NodeJS.ReadableStream;
}

async function open(
  gateway: Gateway,
  flags: ServeFlags,
  { log, terminal, stdin }: Environment,
): Promise<Service> {
  const common = { logger: log, gracePeriodMs: flags.gracePeriod };
  if (flags.http === undefined) {
    const { serveStdio } = await import('../../gateway/stdio/serve-stdio.js');
    if ('isTTY' in stdin && stdin.isTTY === true)
      log.info('Waiting for an MCP client on stdin; Ctrl-C stops.');
    // The streams of a command are those of its process.
    return serveStdio(gateway, {
      ...common,
      input: stdin as Readable,
      output: terminal.stdout as Writable,
    });
  }
  const { serveHttp } = await import('../../gateway/http/serve-http.js');
  const access = await accessOf(flags, log);
  const options = { ...common, ...(await httpOptions(flags)), ...access.options };
  const service = await opened(serveHttp(gateway, options));
  const { tokenFile } = access;
  if (flags.json)
    terminal.printJson('serve', { url: service.url, ...(tokenFile !== undefined && { tokenFile }) });
  else terminal.print(service.url);
  if (access.note !== undefined) terminal.note(access.note);
  return { closed: NEVER, close: (options) => service.close(options) };
}

interface Access {
  readonly options: Pick<ServeHttpOptions, 'token'>;
  /** The file that keeps a generated token. */
  readonly tokenFile?: string;
  /** What the user must know to configure a client. */
  readonly note?: string;
}

/** Who has access. A generated token is printed once and is in no log. */
async function accessOf(flags: ServeFlags, log: ServeLog): Promise<Access> {
  const token = chosenToken(flags);
  if (token !== undefined) return { options: { token } };
  if (flags.oauthIssuer !== undefined) return { options: {} };
  if (flags.token === false) {
    const ignored = process.env[TOKEN_VARIABLE] ? ` ${TOKEN_VARIABLE} is ignored.` : '';
    log.warn(`Without a token, every user and every program of this computer may use all servers.${ignored}`);
    return { options: {} };
  }
  const { token: kept, file } = await userStore('log')()
    .then(gatewayToken)
    .catch((error: unknown) => {
      throw new UsageError(
        `The token for clients cannot be kept: ${messageOf(error)}. Give one in ${TOKEN_VARIABLE}, or use --no-token`,
      );
    });
  const note = `Clients must send this header; the token is kept in ${file}:\nAuthorization: Bearer ${kept}`;
  return { options: { token: kept }, tokenFile: file, note };
}

async function httpOptions(flags: ServeFlags): Promise<ServeHttpOptions> {
  const { http, host, publicUrl, oauthIssuer: issuers, allowOrigin, allowHost } = flags;
  return {
    ...(typeof http === 'number' ? { port: http } : {}),
    ...(host === undefined ? {} : { host }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(allowOrigin === undefined ? {} : { allowedOrigins: allowOrigin }),
    ...(allowHost === undefined ? {} : { allowedHosts: allowHost }),
    ...(issuers === undefined ? {} : { oauth: { issuers, verifyToken: await verifier(issuers) } }),
  };
}

async function verifier(issuers: readonly string[]): Promise<ProtectedResource['verifyToken']> {
  const { createJwtVerifier } = await import('../../gateway/http/http-jwt.js');
  return createJwtVerifier(issuers);
}

function checkFlags(flags: ServeFlags): void {
  const stray = OF_HTTP.find((name) => flags[name] !== undefined);
  if (flags.http === undefined) {
    if (stray === undefined) return;
    const name = stray === 'token' && flags.token === false ? '--no-token' : FLAG_NAMES[stray];
    throw new UsageError(`${name} requires --http`);
  }
  const { host = '127.0.0.1', oauthIssuer, token } = flags;
  if (isLoopback(host) || token !== false || oauthIssuer !== undefined) return;
  throw new UsageError(
    `--host ${host} admits other computers: omit --no-token or --host, or give --oauth-issuer URL`,
  );
}

function chosenToken({ token }: ServeFlags): string | undefined {
  return token === false ? undefined : (token ?? (process.env[TOKEN_VARIABLE] || undefined));
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

// Detects that a gateway would start itself. A gateway whose own entry is among the servers that it finds would start a
// copy of itself, which starts another, until the machine runs out of memory.

type Variables = Record<string, string | undefined>;

const STARTS_ITSELF =
  'a gateway with the same servers started this one: its own entry is among them, so it would start itself endlessly. Give it --config FILE with a file that does not contain it';

/**
 * Adds this gateway to the environment of its children until the returned function is called. Throws a `ConfigError` if
 * a gateway of the same servers has started this one.
 */
export function joinServeChain(
  flags: Pick<Flags, 'config' | 'add' | 'discover'>,
  env: Variables,
  cwd: string,
): () => void {
  const before = env[SERVE_CHAIN_VARIABLE];
  const chain = before?.split(' ') ?? [];
  const own = linkOf(flags, cwd);
  if (chain.includes(own)) throw new ConfigError(STARTS_ITSELF);
  env[SERVE_CHAIN_VARIABLE] = [...chain, own].join(' ');
  return () => {
    if (before === undefined) delete env[SERVE_CHAIN_VARIABLE];
    else env[SERVE_CHAIN_VARIABLE] = before;
  };
}

/** Equal for gateways that read the same files. */
function linkOf(flags: Pick<Flags, 'config' | 'add' | 'discover'>, cwd: string): string {
  const { servers, discover } = sourcesOf(flags);
  const files = flags.config.map((file) => resolve(cwd, file));
  // An added server starts the gateway again, whatever else is found.
  const found = discover && flags.add.length === 0 ? { cwd, home: homeFolder() ?? '' } : {};
  const sources = canonicalJson({ files, servers, ...found });
  return createHash('sha256').update(sources).digest('hex').slice(0, 16);
}
