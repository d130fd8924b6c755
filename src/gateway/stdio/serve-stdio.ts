/**
 * Serves one client over stdin and stdout.
 *
 * S1. Only messages go to `output`.
 * S2. The end of the input ends the session, once all requests are answered or the time for that is over, and the
 *     client has read the answers, however slowly.
 * S3. Nothing is left on the streams afterwards. The gateway itself stays open: its creator closes it.
 */
import type { Readable, Writable } from 'node:stream';
import { guardedLogger, systemClock, type Clock, type Logger } from '../../ports.js';
import { settlesWithin } from '../../async/timers.js';
import { DEFAULT_GRACE_PERIOD_MS, SHUTTING_DOWN, type DrainOptions } from '../drain.js';
import type { Gateway } from '../gateway.js';
import { StdioServerTransport } from './stdio-server-transport.js';
import { unblockedOutput } from './client-streams.js';
import { requireKnown, type OptionNames } from '../../text/option-names.js';

/** Options of `serveStdio`. */
export interface ServeStdioOptions {
  /** Stream of the client's messages. Default: the stdin of this process. */
  readonly input?: Readable;
  /** Stream of the answers. Nothing else may be written to it. Default: the stdout of this process. */
  readonly output?: Writable;
  /** Maximum size of a message, in bytes. A longer one is answered with an error. Default 4 MiB. */
  readonly maxMessageBytes?: number;
  /** Maximum time for calls in flight after the end of the input, in milliseconds. Default 10,000. */
  readonly gracePeriodMs?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Receives errors. Default: silent. */
  readonly logger?: Logger;
}

const NAMES: OptionNames<ServeStdioOptions> = {
  input: true,
  output: true,
  maxMessageBytes: true,
  gracePeriodMs: true,
  clock: true,
  logger: true,
};

/** The service of one client. */
export interface StdioService {
  /** Resolves when the session is over and everything is written. Never rejects. */
  readonly closed: Promise<void>;
  /**
   * Accepts no further requests, waits for those in flight, and ends the session. Never rejects.
   *
   * @param options How long requests in flight may take. Default: the `gracePeriodMs` of the service, otherwise 10,000.
   *
   * @example
   * ```ts
   * import { createGateway, serveStdio } from 'mcp-troupe/gateway';
   *
   * const service = await serveStdio(createGateway({ config: '.mcp.json' }));
   * await service.close({ gracePeriodMs: 2_000 });
   * ```
   */
  close(options?: DrainOptions): Promise<void>;
}

const DEFAULT_MAX_MESSAGE_BYTES = 4 * 1_024 * 1_024;

/**
 * Serves one client by stdin and stdout (MCP 2025-11-25, Transports, stdio). Resolves when the client is
 * served.
 *
 * @param gateway The gateway to serve. Closing the service leaves it open.
 * @param options Streams and limits of the service. Default: stdin and stdout of this process.
 *
 * @throws What `Gateway.connect` throws.
 *
 * @example
 * ```ts
 * import { createGateway, serveStdio } from 'mcp-troupe/gateway';
 *
 * const gateway = createGateway({ config: '.mcp.json', singleClient: true });
 * const service = await serveStdio(gateway);
 * await service.closed;
 * await gateway.close();
 * ```
 */
export async function serveStdio(
  gateway: Pick<Gateway, 'connect'>,
  options: ServeStdioOptions = {},
): Promise<StdioService> {
  requireKnown('serveStdio', options, NAMES);
  const { clock = systemClock, gracePeriodMs = DEFAULT_GRACE_PERIOD_MS } = options;
  const logger = guardedLogger(options.logger);
  const transport = new StdioServerTransport({
    input: options.input ?? process.stdin,
    output: unblockedOutput(options.output ?? process.stdout),
    maxMessageBytes: options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES,
    clock,
  });
  const { conversation } = transport;
  const ended = new Promise<boolean>((resolve) => {
    transport.onend = (how) => {
      logger.debug(how === 'end-of-input' ? 'The input has ended.' : 'The output has no reader any more.');
      resolve(how === 'end-of-input');
    };
  });
  const session = await gateway.connect(transport);
  let closing: Promise<void> | undefined;
  let hurry: () => void = () => {};
  const hurried = new Promise<void>((resolve) => (hurry = resolve));
  const end = async (ms: number): Promise<void> => {
    conversation.refuseNew(SHUTTING_DOWN);
    if (ms > 0) await settlesWithin(clock, ms, Promise.race([conversation.settled(), hurried]));
    if (conversation.pending > 0)
      logger.warn('Calls in flight were aborted.', { pending: conversation.pending });
    await session.close();
    await transport.close();
  };
  const close = (ms: number): Promise<void> => {
    if (ms === 0 || closing !== undefined) hurry();
    if (ms === 0 && closing !== undefined) transport.hurry();
    return (closing ??= end(ms));
  };
  void ended.then((canAnswer) => close(canAnswer ? gracePeriodMs : 0));
  const closed = session.closed.then(() => transport.close());
  return { closed, close: ({ gracePeriodMs: ms = gracePeriodMs } = {}) => close(ms) };
}
