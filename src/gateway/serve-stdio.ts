/**
 * Serves one client over stdin and stdout.
 *
 * S1. Only messages go to `output`.
 * S2. The end of the input is the end of the session, once what was asked is answered, or the time for that is over, and
 *     the client has read it, however slowly.
 * S3. Nothing is left on the streams afterwards. The gateway itself stays as it was: it is closed by whoever made it.
 */
import type { Readable, Writable } from 'node:stream';
import { guardedLogger } from '../guarded-logger.js';
import { systemClock, type Clock, type Logger } from '../ports.js';
import { doneWithin } from '../release.js';
import { DEFAULT_DRAIN_MS, SHUTTING_DOWN, type DrainOptions } from './drain.js';
import type { Gateway } from './gateway.js';
import { StdioServerTransport } from './stdio-server-transport.js';

export interface ServeStdioOptions {
  /** Where the client's messages come from. Default: the stdin of this process. */
  readonly input?: Readable;
  /** Where the answers go, and nothing else may. Default: the stdout of this process. */
  readonly output?: Writable;
  /** Longest message that is read, in bytes. A longer one is answered with an error. Default 16 MiB. */
  readonly maxMessageBytes?: number;
  /** Most milliseconds that calls in flight may go on after the end of the input. Default 10,000. */
  readonly drainMs?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Hears of what went wrong. Default: silent. */
  readonly logger?: Logger;
}

/** One client that is served. */
export interface StdioService {
  /** Resolves when the session is over and everything is written. Never rejects. */
  readonly closed: Promise<void>;
  /** Takes no further requests, waits for those in flight, and ends the session. Never rejects. */
  close(options?: DrainOptions): Promise<void>;
}

const DEFAULT_MAX_MESSAGE_BYTES = 16 * 1_024 * 1_024;

/** Resolves when the client is served. Rejects where the gateway takes no session. */
export async function serveStdio(
  gateway: Pick<Gateway, 'connect'>,
  options: ServeStdioOptions = {},
): Promise<StdioService> {
  const { clock = systemClock, drainMs = DEFAULT_DRAIN_MS } = options;
  const logger = guardedLogger(options.logger);
  const transport = new StdioServerTransport({
    input: options.input ?? process.stdin,
    output: options.output ?? process.stdout,
    maxMessageBytes: options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES,
    clock,
  });
  const { conversation } = transport;
  const ended = new Promise<boolean>((resolve) => {
    transport.onend = (how) => {
      logger.debug(how === 'end-of-input' ? 'The input has ended.' : 'Nobody reads the output any more.');
      resolve(how === 'end-of-input');
    };
  });
  const session = await gateway.connect(transport);
  let closing: Promise<void> | undefined;
  let hurry: () => void = () => {};
  const hurried = new Promise<void>((resolve) => (hurry = resolve));
  const end = async (ms: number): Promise<void> => {
    conversation.refuseNew(SHUTTING_DOWN);
    if (ms > 0) await doneWithin(clock, ms, Promise.race([conversation.settled(), hurried]));
    if (conversation.pending > 0)
      logger.warn('Calls in flight are given up.', { pending: conversation.pending });
    await session.close();
    await transport.close();
  };
  const close = (ms: number): Promise<void> => {
    if (ms === 0 || closing !== undefined) hurry();
    if (ms === 0 && closing !== undefined) transport.hurry();
    return (closing ??= end(ms));
  };
  void ended.then((canAnswer) => close(canAnswer ? drainMs : 0));
  const closed = session.closed.then(() => transport.close());
  return { closed, close: ({ drainMs: ms = drainMs } = {}) => close(ms) };
}
