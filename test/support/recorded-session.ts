import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { systemClock } from '../../src/ports.js';
import type { SessionTransport, TransportNotice } from '../../src/transports/session-transport.js';
import { childEnvironment } from '../../src/transports/stdio/child-environment.js';
import {
  createStdioTransport,
  type StdioTransportOptions,
} from '../../src/transports/stdio/stdio-transport.js';
import { WAIT_LIMIT_MS } from './time-limit.js';

const KIT = fileURLToPath(new URL('../../tools/faults/kit/faulty-stdio.mjs', import.meta.url));

/** The start of every script below: `send` writes a message, `each` receives the messages of the client. */
const PRELUDE = `
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
  const each = (fn) => require('node:readline').createInterface({ input: process.stdin })
    .on('line', (line) => fn(JSON.parse(line)));
  const stay = () => setInterval(() => {}, 1000);
`;

type Launch = Pick<StdioTransportOptions, 'command' | 'args'>;

export const script = (source: string): Launch => ({
  command: process.execPath,
  args: ['-e', PRELUDE + source],
});

export const faulty = (mode: string): Launch => ({
  command: process.execPath,
  args: [KIT, `--mode=${mode}`],
});

/** A shell that runs a script and ends shortly after it, as wrappers do. */
export const underShell = (source: string): Launch => ({
  command: 'sh',
  args: ['-c', '"$0" "$@"; true', process.execPath, '-e', PRELUDE + source],
});

const open = new Set<SessionTransport>();

/** A transport and everything it has reported. */
export class RecordedSession {
  readonly transport: SessionTransport;
  readonly messages: JSONRPCMessage[] = [];
  readonly notices: TransportNotice[] = [];
  readonly stderr: string[] = [];
  readonly errors: Error[] = [];
  closes = 0;
  activity = 0;
  readonly #waiting = new Set<() => void>();

  constructor(options: StdioTransportOptions) {
    this.transport = createStdioTransport(options);
    open.add(this.transport);
    this.transport.onmessage = (message) => this.#note(() => this.messages.push(message));
    this.transport.onnotice = (notice) => this.#note(() => this.notices.push(notice));
    this.transport.onstderr = (line) => this.#note(() => this.stderr.push(line));
    this.transport.onerror = (error) => this.#note(() => this.errors.push(error));
    this.transport.onclose = () => this.#note(() => (this.closes += 1));
    this.transport.onactivity = () => this.#note(() => (this.activity += 1));
  }

  /** Waits until the condition holds. It is checked after each report of the transport. */
  until(what: string, condition: (session: this) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`This did not happen: ${what}`)), WAIT_LIMIT_MS);
      const look = (): void => {
        if (!condition(this)) return;
        clearTimeout(limit);
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  untilClosed(): Promise<void> {
    return this.until('the session ends', ({ closes }) => closes > 0);
  }

  /** Sends a request and waits for the answer with its id. */
  async ask(id: number, method = 'ask', params: Record<string, unknown> = {}): Promise<JSONRPCMessage> {
    await this.transport.send({ jsonrpc: '2.0', id, method, params });
    await this.until(`answer ${id}`, () => this.answerTo(id) !== undefined);
    return this.answerTo(id)!;
  }

  answerTo(id: number): JSONRPCMessage | undefined {
    return this.messages.find((message) => 'id' in message && message.id === id && !('method' in message));
  }

  #note(record: () => void): void {
    record();
    for (const look of this.#waiting) look();
  }
}

export function session(launch: Launch, options: Partial<StdioTransportOptions> = {}): RecordedSession {
  return new RecordedSession({
    env: childEnvironment(process.env),
    stop: { stdinEndMs: 150, termMs: 150 },
    clock: systemClock,
    ...launch,
    ...options,
  });
}

export async function started(
  launch: Launch,
  options: Partial<StdioTransportOptions> = {},
): Promise<RecordedSession> {
  const recorded = session(launch, options);
  await recorded.transport.start();
  return recorded;
}

/** The `pid` in the parameters of the server's first message. */
export function reportedPid({ messages }: RecordedSession): number {
  const [first] = messages as readonly { params?: { pid?: number } }[];
  if (first?.params?.pid === undefined) throw new Error('The server reported no process id.');
  return first.params.pid;
}

/** Ends every session of a test, even if the test failed. */
export function endSessionsAfterEach(): void {
  afterEach(async () => {
    await Promise.all([...open].map((transport) => transport.kill()));
    open.clear();
  });
}
