/**
 * Creates the transport that an expanded entry asks for. Each kind loads when it is first needed.
 *
 * The folder `transports` carries messages to and from a server, and ends what it started. It does not know what the
 * messages mean: that is `protocol`.
 */
import type { HttpServerConfig, StdioServerConfig, ServerConfig } from '../config/entry/server-config.js';
import type { RunTerm } from './run-term.js';
import type { MessageLimits } from '../json/parse-json.js';
import type { SessionTransport } from './session-transport.js';
import type { StopPolicy } from '../../machines/policy/policy.js';
import type { Clock } from '../ports.js';
import type { Mask } from '../secrets/secrets.js';
import type { ChangingHeaders } from './http/helper-headers.js';
import type { HttpAuth } from './http/session-requests.js';
import type { HttpMemory, OpenExchange } from './http/http-session.js';

/** What every transport gets beside its entry. */
export interface TransportTerms {
  readonly stop: StopPolicy;
  readonly clock: Clock;
  /** Strikes secrets out of the text of the server. */
  readonly mask: Mask;
  /** How much one message of the server may hold. Default: `DEFAULT_MESSAGE_LIMITS`. */
  readonly limits?: MessageLimits | undefined;
  /** The source of a remote server's tokens. Default: none. */
  readonly auth?: HttpAuth | undefined;
  /** What earlier sessions revealed about the server. Default: nothing. */
  readonly memory?: HttpMemory | undefined;
  /** How the requests to a remote server are sent. Default: directly. */
  readonly network?: (() => Promise<OpenExchange>) | undefined;
  /** The time for which a program may run. Default: for as long as it likes. */
  readonly term?: RunTerm | undefined;
  /** How to run the program that provides the headers of a remote server. */
  readonly helper?: HelperTerms;
}

export interface HelperTerms {
  /** The name of the server. */
  readonly server: string;
  /** The working directory of the program. */
  readonly folder: string;
  /** Masks these texts from now on. */
  readonly remember: (secrets: readonly string[]) => void;
  /** Cancels the first run. */
  readonly signal: AbortSignal;
}

/** The same limit as in other hosts that support this field. */
const HELPER_LIMIT_MS = 10_000;

export type CreateTransport = (config: ServerConfig, terms: TransportTerms) => Promise<SessionTransport>;

export const createTransport: CreateTransport = async (config, terms) => {
  if ('command' in config) return createStdio(config, terms);
  if ('url' in config) return createHttp(config, terms);
  const { createInProcessTransport } = await import('./in-process.js');
  return createInProcessTransport(config.server);
};

async function createStdio(config: StdioServerConfig, terms: TransportTerms): Promise<SessionTransport> {
  const { createStdioTransport, childEnvironment } = await import('./stdio/stdio-transport.js');
  const env = childEnvironment(process.env, config.env ?? {}, config.inheritEnv ?? false);
  // An inherited PWD names the working folder of the host, in which the program does not start.
  const hasStalePwd =
    config.cwd !== undefined && env['PWD'] !== undefined && config.env?.['PWD'] === undefined;
  return createStdioTransport({
    command: config.command,
    args: config.args ?? [],
    env: hasStalePwd ? { ...env, PWD: config.cwd } : env,
    ...(config.cwd === undefined ? {} : { cwd: config.cwd }),
    keepDaemons: config.keepDaemons,
    ...terms,
  });
}

async function createHttp(config: HttpServerConfig, terms: TransportTerms): Promise<SessionTransport> {
  const { stop, clock, auth, network, memory, limits } = terms;
  const openExchange = await network?.();
  const extra = await helperHeaders(config, terms);
  const { url, headers = {}, listen, forwardHeaders } = config;
  const own = { url, headers, listen, forwardHeaders };
  const options = { ...own, stop, clock, auth, memory, openExchange, extra, limits };
  if (config.type === 'sse') return (await import('./http/sse.js')).createSseTransport(options);
  if (config.type === 'http')
    return (await import('./http/streamable-http.js')).createStreamableHttpTransport(options);
  return (await import('./http/http-fallback.js')).createHttpTransport(options);
}

async function helperHeaders(
  { url, env = {}, headersHelper: command, inheritEnv = false }: HttpServerConfig,
  { clock, helper }: TransportTerms,
): Promise<ChangingHeaders | undefined> {
  if (command === undefined || helper === undefined) return undefined;
  const [{ openHelperHeaders }, { runCommand }, { childEnvironment }] = await Promise.all([
    import('./http/helper-headers.js'),
    import('./stdio/run-command.js'),
    import('./stdio/child-environment.js'),
  ]);
  const { server, folder, remember, signal } = helper;
  const about = { CLAUDE_CODE_MCP_SERVER_NAME: server, CLAUDE_CODE_MCP_SERVER_URL: url };
  const run = (over: AbortSignal): Promise<string> =>
    runCommand({
      command,
      name: "'headersHelper'",
      cwd: folder,
      env: childEnvironment(process.env, { ...about, ...env }, inheritEnv),
      limitMs: HELPER_LIMIT_MS,
      clock,
      signal: over,
    });
  return openHelperHeaders({ run, remember }, signal);
}
