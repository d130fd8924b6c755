/**
 * Serves the metrics of a gateway to Prometheus, on a port of its own: a reader of metrics needs no token that can also call
 * tools, and a proxy that publishes the gateway does not publish its metrics.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readShape } from '../../config/entry/read-shape.js';
import type { Schema } from '../../config/entry/schema.js';
import { refuseProblems } from '../../config/refuse-options.js';
import { HEADER_LIMITS, limitConnections } from '../../transports/http/server-limits.js';
import { isLoopback } from '../../text/host-reach.js';
import type { Gateway } from '../gateway.js';
import type { HttpService } from '../http/serve-http.js';
import { listen } from '../http/listen.js';
import { hostName } from '../http/serve-http-options.js';
import { counter, gauge, GatewayMetrics } from './gateway-metrics.js';
import { CONTENT_TYPE, type Metric } from './prometheus-text.js';

/** Options of `serveMetrics`. */
export interface ServeMetricsOptions {
  /** Port to listen on. Default 0: any free port. */
  readonly port?: number;
  /**
   * Address to listen on. Whoever reaches it can read the names of servers and tools, and how often they are used. Default
   * `127.0.0.1`.
   */
  readonly host?: string;
  /** The HTTP service whose sessions are counted as well. Default: none. */
  readonly service?: Pick<HttpService, 'sessions'>;
}

/** The address at which metrics are read. */
export interface MetricsService {
  /** The address for Prometheus, such as `http://127.0.0.1:9464/metrics`. */
  readonly url: string;
  /** The port that it listens on. */
  readonly port: number;
  /**
   * Closes the port. Never rejects.
   *
   * @example
   * ```ts
   * import { createGateway, serveMetrics } from 'mcp-troupe/gateway';
   *
   * const metrics = await serveMetrics(createGateway({ config: '.mcp.json' }));
   * await metrics.close();
   * ```
   */
  close(): Promise<void>;
}

const SCHEMA: Schema = {
  type: 'object',
  properties: {
    port: { type: 'integer', minimum: 0, maximum: 65_535, title: 'a whole number from 0 to 65535' },
    host: { type: 'string', title: 'a string' },
    service: {},
  } satisfies { readonly [K in keyof ServeMetricsOptions]-?: Schema },
  additionalProperties: false,
};

const MAX_CONNECTIONS = 64;
/** Limit for an answer to be read, milliseconds. */
const READER_LIMIT_MS = 10_000;

/**
 * Counts from now on what the connections of a gateway do, and serves it at `/metrics` in the text format of Prometheus. Resolves
 * when the port is open.
 *
 * @param gateway The gateway to measure. Closing the service leaves it open.
 * @param options Where to listen. Default: any free port of 127.0.0.1.
 *
 * @throws {@link ConfigError} if the options make no sense or the port cannot be had.
 *
 * @example
 * ```ts
 * import { createGateway, serveHttp, serveMetrics } from 'mcp-troupe/gateway';
 *
 * const gateway = createGateway({ config: '.mcp.json' });
 * const service = await serveHttp(gateway);
 * const metrics = await serveMetrics(gateway, { port: 9464, service });
 * ```
 */
export async function serveMetrics(
  gateway: Pick<Gateway, 'events$' | 'status'>,
  options: ServeMetricsOptions = {},
): Promise<MetricsService> {
  refuseProblems('serveMetrics', (report) => void readShape(options, SCHEMA, [], report));
  const { port: wanted = 0, host = '127.0.0.1', service } = options;
  const server = createServer({ requestTimeout: READER_LIMIT_MS, ...HEADER_LIMITS });
  limitConnections(server, MAX_CONNECTIONS);
  const port = await listen(server, wanted, host);
  const own = new URL(`http://${hostName(host)}:${port}/metrics`);
  // Pages of the web must not read them under a name that is made to point here.
  const names = isLoopback(host) ? new Set([own.host, `localhost:${port}`]) : undefined;
  const metrics = new GatewayMetrics(gateway);
  server.on('request', (request, response) => {
    const status = statusFor(request, names);
    const text = status === 200 ? metrics.text(metricsOf(service)) : `${status}\n`;
    response.setTimeout(READER_LIMIT_MS, () => response.destroy());
    answer(response, status, text);
  });
  server.on('error', () => {});
  return {
    url: own.href,
    port,
    close: () => {
      metrics.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

function statusFor(
  { method, url = '', headers }: IncomingMessage,
  names: ReadonlySet<string> | undefined,
): number {
  if (names !== undefined && !names.has(headers.host?.toLowerCase() ?? '')) return 403;
  if (url.split('?')[0] !== '/metrics') return 404;
  return method === 'GET' || method === 'HEAD' ? 200 : 405;
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': CONTENT_TYPE,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(status === 405 && { allow: 'GET, HEAD' }),
  });
  response.end(text);
}

/** The sessions, and the process under the names that Prometheus knows from every client library. */
function metricsOf(service: ServeMetricsOptions['service']): readonly Metric[] {
  const { user, system } = process.cpuUsage();
  const startedAt = Date.now() / 1_000 - process.uptime();
  return [
    ...(service === undefined
      ? []
      : [gauge('troupe_sessions', 'Open sessions over HTTP.', service.sessions)]),
    counter('process_cpu_seconds_total', 'Processor time, in seconds.', (user + system) / 1_000_000),
    gauge('process_resident_memory_bytes', 'Memory in use, in bytes.', process.memoryUsage.rss()),
    gauge('process_start_time_seconds', 'Start of the process, in seconds since the epoch.', startedAt),
  ];
}
