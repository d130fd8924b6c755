/**
 * `troupe serve`: all servers as one MCP server, for one client on stdin and stdout or for many over HTTP.
 *
 * S1. On stdin and stdout, stdout has messages of the protocol and nothing else.
 * S2. Where no server is configured yet, none is served, and one that is configured later is. An editor that starts this
 *     command shows a failure that nobody reads otherwise.
 * S3. A signal lets calls in flight finish within the drain time; the second one gives them up and kills the servers.
 * S4. It does not start itself: one that was started, however far behind, by a gateway of the same servers ends.
 * S5. A client that reads nothing holds up nobody: what it was not told is dropped with the process, once it has read
 *     nothing for some seconds.
 */
import { once } from 'node:events';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { createGateway, type Gateway } from '../../gateway/gateway.js';
import type { DrainOptions } from '../../gateway/drain.js';
import type { ProtectedResource } from '../../gateway/http-oauth.js';
import type { ServeHttpOptions } from '../../gateway/serve-http-options.js';
import { isLoopback } from '../../loopback.js';
import { systemClock } from '../../ports.js';
import { readConfiguration } from '../configuration.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import { toTroupeOptions } from '../make-troupe.js';
import { describeProblem } from '../../config/problem.js';
import { messageOf } from '../../thrown.js';
import { joinServeChain } from '../serve-chain.js';
import { ServeLog } from '../serve-log.js';
import { listenForStop } from '../signals.js';
import type { Terminal } from '../terminal.js';
import { opened } from '../taken-port.js';
import { UsageError } from '../usage-error.js';

export interface ServeFlags extends Flags {
  /** The port, or `true` for any. */
  readonly http?: number | true;
  readonly host?: string;
  readonly token?: string;
  readonly oauthIssuer?: readonly string[];
  readonly publicUrl?: string;
  readonly bare?: boolean;
  readonly failClosed?: boolean;
  readonly adminTools?: boolean;
  /** Milliseconds. */
  readonly drain: number;
}

/** What both ways of serving have. */
interface Service {
  /** Resolves when its only client is gone; never where there may be others. */
  readonly closed: Promise<void>;
  close(options?: DrainOptions): Promise<void>;
}

const TOKEN_VARIABLE = 'TROUPE_SERVE_TOKEN';
const FLAG_NAMES = {
  host: '--host',
  token: '--token',
  oauthIssuer: '--oauth-issuer',
  publicUrl: '--public-url',
} as const;
const NO_SERVER =
  'No server is configured: nothing is offered until one is. Name servers in a file that is found, or give --config FILE.';
const OF_HTTP = ['host', 'token', 'oauthIssuer', 'publicUrl'] as const;
const NEVER = new Promise<void>(() => {});
/** In which a client that reads at all reads something, milliseconds. */
const UNREAD_MS = 2_000;

/** `EXIT.fine` where the client went or a signal stopped it. */
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
  const { bare = false, failClosed = false, adminTools = false } = flags;
  if (bare && names.length !== 1)
    throw new UsageError(`--bare is for one server, and there are ${names.length}: ${names.join(', ')}`);
  const log = new ServeLog(terminal, systemClock, flags.verbose);
  for (const warning of warnings) log.warn(describeProblem(warning));
  if (names.length === 0) log.warn(NO_SERVER);
  const options = toTroupeOptions(flags, configuration, { watch: true });
  const gateway = createGateway({
    ...options,
    bare,
    failClosed,
    adminTools,
    singleClient: flags.http === undefined,
    logger: log,
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
    log.info(press === 1 ? 'It is stopped; calls in flight may finish.' : 'It is stopped at once.');
    stop.abort();
    if (press > 1) void Promise.all([service?.close({ drainMs: 0 }), gateway.kill()]);
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
    await gateway.close({ drainMs: 0 });
    stopListening();
    events.unsubscribe();
    if (flags.http === undefined) dropUnread(terminal.stdout as Writable, exitCode(), log);
  }
}

/** A pipe that nobody reads keeps its process for ever; whoever reads slowly is waited for, as the time begins anew. */
function dropUnread(output: Writable, code: ExitCode, log: ServeLog): void {
  if (!(output instanceof Socket) || output.destroyed || output.writableLength === 0) return;
  output.setTimeout(UNREAD_MS, () => {
    log.warn('The client does not read: what it was not told is dropped.');
    process.exit(code);
  });
}

interface Surroundings {
  readonly log: ServeLog;
  readonly terminal: Terminal;
  readonly stdin: NodeJS.ReadableStream;
}

async function open(
  gateway: Gateway,
  flags: ServeFlags,
  { log, terminal, stdin }: Surroundings,
): Promise<Service> {
  const common = { logger: log, drainMs: flags.drain };
  if (flags.http === undefined) {
    const { serveStdio } = await import('../../gateway/serve-stdio.js');
    if ('isTTY' in stdin && stdin.isTTY === true)
      log.info('An MCP client is awaited on stdin; Ctrl-C stops.');
    // What a command is given is a process's own streams.
    return serveStdio(gateway, {
      ...common,
      input: stdin as Readable,
      output: terminal.stdout as Writable,
    });
  }
  const { serveHttp } = await import('../../gateway/serve-http.js');
  const options = { ...common, ...(await httpOptions(flags)) };
  const service = await opened(serveHttp(gateway, options));
  terminal.print(flags.json ? JSON.stringify({ url: service.url }) : service.url);
  return { closed: NEVER, close: (options) => service.close(options) };
}

async function httpOptions(flags: ServeFlags): Promise<ServeHttpOptions> {
  const { http, host, publicUrl, oauthIssuer: issuers } = flags;
  const token = tokenOf(flags);
  return {
    ...(typeof http === 'number' ? { port: http } : {}),
    ...(host === undefined ? {} : { host }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(token === undefined ? {} : { token }),
    ...(issuers === undefined ? {} : { oauth: { issuers, verifyToken: await verifier(issuers) } }),
  };
}

async function verifier(issuers: readonly string[]): Promise<ProtectedResource['verifyToken']> {
  const { createJwtVerifier } = await import('../../gateway/http-jwt.js');
  return createJwtVerifier(issuers);
}

function checkFlags(flags: ServeFlags): void {
  const stray = OF_HTTP.find((name) => flags[name] !== undefined);
  if (flags.http === undefined) {
    if (stray !== undefined) throw new UsageError(`${FLAG_NAMES[stray]} is for --http: add it`);
    return;
  }
  const { host = '127.0.0.1', oauthIssuer } = flags;
  if (isLoopback(host) || tokenOf(flags) !== undefined || oauthIssuer !== undefined) return;
  throw new UsageError(
    `--host ${host} lets other computers in: give --token TOKEN or --oauth-issuer URL, or leave --host out`,
  );
}

function tokenOf({ token }: ServeFlags): string | undefined {
  return token ?? (process.env[TOKEN_VARIABLE] || undefined);
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
