/** The transport an expanded entry asks for. Each kind loads when first needed. */
import type { CreateTransport, TransportTerms } from './transport-terms.js';
import type { HttpServerConfig, StdioServerConfig } from '../options.js';
import type { SessionTransport } from './session-transport.js';

export const createTransport: CreateTransport = async (config, terms) => {
  if ('command' in config) return createStdio(config, terms);
  if ('url' in config) return createHttp(config, terms);
  const { createInProcessTransport } = await import('./in-process.js');
  return createInProcessTransport(config.server);
};

async function createStdio(config: StdioServerConfig, terms: TransportTerms): Promise<SessionTransport> {
  const [{ createStdioTransport }, { childEnvironment }] = await Promise.all([
    import('./stdio/stdio-transport.js'),
    import('./stdio/child-environment.js'),
  ]);
  return createStdioTransport({
    command: config.command,
    args: config.args ?? [],
    env: childEnvironment(process.env, config.env ?? {}, config.inheritEnv ?? false),
    ...(config.cwd === undefined ? {} : { cwd: config.cwd }),
    ...terms,
  });
}

async function createHttp(
  config: HttpServerConfig,
  { stop, clock, auth }: TransportTerms,
): Promise<SessionTransport> {
  const options = { url: config.url, headers: config.headers ?? {}, stop, clock, auth };
  if (config.type === 'sse') return (await import('./sse.js')).createSseTransport(options);
  if (config.type === 'http')
    return (await import('./streamable-http.js')).createStreamableHttpTransport(options);
  return (await import('./http/http-fallback.js')).createHttpTransport(options);
}
