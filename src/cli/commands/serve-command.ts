/**
 * `troupe serve`: all servers as one MCP server, for one client on stdin and stdout or for many over HTTP.
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
 * S7. Over HTTP and without a terminal, SIGHUP reads the configuration again, as services do. With a terminal it means that the
 *     terminal is gone, so it stops the command.
 */
import { once } from 'node:events';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { settlesWithin } from '../../async/timers.js';
import type { DrainOptions } from '../../gateway/drain.js';
import { createGateway, type Gateway } from '../../gateway/gateway.js';
import { systemClock, type Logger } from '../../ports.js';
import { messageOf } from '../../text/error-message.js';
import { readConfiguration } from '../configured-servers.js';
import { EXIT, type ExitCode, UsageError, listenForReload, listenForStop } from '../exit.js';
import { fleetOf } from '../fleet-of-flags.js';
import { toTroupeOptions } from '../make-troupe.js';
import { JsonLog } from '../output/json-log.js';
import type { Terminal } from '../output/terminal.js';
import { warningOfProcessOne } from '../process-one.js';
import { registeredTelemetry } from '../registered-telemetry.js';
import { joinServeChain } from '../serving/serve-chain.js';
import { checkServeFlags, type ServeFlags } from '../serving/serve-flags.js';
import { ServeLog } from '../serving/serve-log.js';

/** What stdio and HTTP services have in common. */
interface Service {
  /** Resolves when its only client is gone; never if there may be other clients. */
  readonly closed: Promise<void>;
  /** Sends new clients elsewhere, if there may be others. */
  drain(): void;
  close(options?: DrainOptions): Promise<void>;
}

/** What the environment says about the flags. */
export interface ServeVariables {
  /** The variable of each flag that was set by one. */
  readonly used: ReadonlyMap<string, string>;
  /** One sentence for each variable that has no effect. */
  readonly warnings: readonly string[];
}

const NO_SERVER =
  'No server is configured, so there are no tools yet. Add servers to a configuration file that Troupe finds, or use --config FILE.';
const NEVER = new Promise<void>(() => {});
/** A client that reads at all reads something within this time, milliseconds. */
const STALLED_READER_MS = 2_000;

/** `EXIT.fine` if the client left or a signal stopped it. */
export async function serve(
  flags: ServeFlags,
  terminal: Terminal,
  { stdin, variables }: { readonly stdin: NodeJS.ReadableStream; readonly variables: ServeVariables },
): Promise<ExitCode> {
  checkServeFlags(flags, variables.used);
  const leaveChain = joinServeChain(flags, process.env, process.cwd());
  try {
    return await serveServers(flags, terminal, stdin, variables.warnings);
  } finally {
    leaveChain();
  }
}

async function serveServers(
  flags: ServeFlags,
  terminal: Terminal,
  stdin: NodeJS.ReadableStream,
  warnings: readonly string[],
): Promise<ExitCode> {
  const configuration = await readConfiguration(flags, { mayBeEmpty: flags.bare !== true });
  const { names } = configuration;
  const { bare = false, failClosed = false, adminTools = false, offer: mode, offerTokens: maxTokens } = flags;
  if (bare && names.length !== 1)
    throw new UsageError(`--bare is for one server, and there are ${names.length}: ${names.join(', ')}`);
  // Records in JSON have the events, and the problems of the files among them.
  const textLog =
    flags.logFormat === 'json'
      ? undefined
      : new ServeLog(terminal, systemClock, flags.verbose, configuration.warnings);
  const log = textLog ?? new JsonLog(terminal, systemClock, flags.verbose);
  for (const warning of [
    ...warnings,
    ...strangersIn(flags, names),
    ...asList(warningOfProcessOne(process.pid)),
  ])
    log.warn(warning);
  if (names.length === 0) log.warn(NO_SERVER);
  const joined = await fleetOf(flags);
  const options = toTroupeOptions(flags, configuration, { watch: true, ...joined });
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
    textLog?.event(event);
    if (event.type === 'manager.failed' && event.session === undefined) broken.abort();
  });
  const stop = new AbortController();
  const hurry = new AbortController();
  const exitCode = (): ExitCode => (broken.signal.aborted ? EXIT.failed : EXIT.fine);
  let service: Service | undefined;
  let isOver = false;
  const reloads = flags.http !== undefined && !hasTerminal(stdin, terminal);
  const stopReloading = reloads ? listenForReload(process, () => void reload(gateway, log)) : () => {};
  const onPress = (press: number): void => {
    log.info(press === 1 ? 'Stopping; calls in flight may finish.' : 'Stopping at once.');
    stop.abort();
    if (press === 1) return;
    hurry.abort();
    void Promise.all([service?.close({ gracePeriodMs: 0 }), gateway.kill()]);
  };
  const stopListening = listenForStop(process, systemClock, onPress, { reloads });
  try {
    service = await open(gateway, flags, { log, terminal, stdin });
    gateway.start().then(
      () => textLog?.started(),
      (error: unknown) => {
        if (isOver) return;
        log.error(`The servers could not be started: ${messageOf(error)}`);
        broken.abort();
      },
    );
    await Promise.race([service.closed, aborted(AbortSignal.any([stop.signal, broken.signal]))]);
    if (stop.signal.aborted)
      await drain(service, flags.drainDelay, AbortSignal.any([hurry.signal, broken.signal]));
    await service.close();
    return exitCode();
  } finally {
    isOver = true;
    await gateway.close({ requestDrainMs: 0 });
    await joined?.close();
    stopListening();
    stopReloading();
    events.unsubscribe();
    if (flags.http === undefined) dropUnread(terminal.stdout as Writable, exitCode(), log);
  }
}

/** For the time that load balancers need to notice, open sessions go on. */
async function drain(service: Service, delayMs: number | undefined, hurried: AbortSignal): Promise<void> {
  service.drain();
  if (delayMs !== undefined && delayMs > 0) await settlesWithin(systemClock, delayMs, aborted(hurried));
}

/** A file with an error changes nothing, and the log says where it is. */
async function reload(gateway: Gateway, log: Logger): Promise<void> {
  log.info('Reading the configuration again.');
  try {
    await gateway.troupe.reload();
  } catch (error) {
    log.warn(`The configuration could not be read again: ${messageOf(error)}`);
  }
}

/** A server that is required may be configured later. */
function strangersIn({ require = [] }: ServeFlags, names: readonly string[]): readonly string[] {
  return require
    .filter((name) => !names.includes(name))
    .map(
      (name) => `--require: no server is called '${name}', so the gateway is not ready before there is one.`,
    );
}

function hasTerminal(stdin: NodeJS.ReadableStream, { stdout, stderr }: Terminal): boolean {
  return [stdin, stdout, stderr].some((stream) => (stream as { readonly isTTY?: boolean }).isTTY === true);
}

function asList<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}

/** An unread pipe keeps its process alive forever. For a slow reader, the timeout starts again with each read. */
function dropUnread(output: Writable, code: ExitCode, log: Logger): void {
  if (!(output instanceof Socket) || output.destroyed || output.writableLength === 0) return;
  output.setTimeout(STALLED_READER_MS, () => {
    log.warn('The client does not read: its unread messages are dropped.');
    process.exit(code);
  });
}

interface Environment {
  readonly log: Logger;
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
    const service = await serveStdio(gateway, {
      ...common,
      input: stdin as Readable,
      output: terminal.stdout as Writable,
    });
    return { closed: service.closed, drain: () => {}, close: (options) => service.close(options) };
  }
  const { serveOverHttp } = await import('../serving/serve-over-http.js');
  return { closed: NEVER, ...(await serveOverHttp(gateway, flags, terminal, common)) };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
