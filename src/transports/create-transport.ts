/** The transport an expanded entry asks for. Each kind loads when first needed. */
import type { StopPolicy } from '../../machines/policy/policy.js';
import type { HttpServerConfig, ServerConfig, StdioServerConfig } from '../options.js';
import type { Clock } from '../ports.js';
import type { SessionTransport } from './session-transport.js';

export async function createTransport(
  config: ServerConfig,
  stop: StopPolicy,
  clock: Clock,
): Promise<SessionTransport> {
  if ('command' in config) return createStdio(config, stop, clock);
  if ('url' in config) return createHttp(config, stop, clock);
  const { createInProcessTransport } = await import('./in-process.js');
  return createInProcessTransport(config.server);
}

async function createStdio(
  config: StdioServerConfig,
  stop: StopPolicy,
  clock: Clock,
): Promise<SessionTransport> {
  const [{ createStdioTransport }, { childEnvironment }] = await Promise.all([
    import('./stdio/stdio-transport.js'),
    import('./stdio/child-environment.js'),
  ]);
  return createStdioTransport({
    command: config.command,
    args: config.args ?? [],
    env: childEnvironment(process.env, config.env ?? {}, config.inheritEnv ?? false),
    ...(config.cwd === undefined ? {} : { cwd: config.cwd }),
    stop,
    clock,
  });
}

async function createHttp(
  config: HttpServerConfig,
  stop: StopPolicy,
  clock: Clock,
): Promise<SessionTransport> {
  const options = { url: config.url, headers: config.headers ?? {}, stop, clock };
  if (config.type === 'sse') return (await import('./sse.js')).createSseTransport(options);
  if (config.type === 'http')
    return (await import('./streamable-http.js')).createStreamableHttpTransport(options);
  return (await import('./http/http-fallback.js')).createHttpTransport(options);
}
