/**
 * The session transport of a server that runs as a child process and speaks JSON-RPC, one message a line, on stdin
 * and stdout (MCP specification, transports: stdio).
 *
 * Owns the session's promises (T1 to T4 of the port) and the host's callbacks: a callback that throws is reported to
 * `onerror` and stops nothing. The process and its pipes belong to `ServerProcess`.
 *
 * S1. A spontaneous end fires `onclose` at once and sends no signal; `close` then ends what is left of the tree.
 * S2. `kill` sends SIGKILL before it returns, so that it also works in a handler of the host's `exit` event.
 * S3. If a process survives SIGKILL, `close` still resolves, and `ended` is `not-released`.
 * S4. With a term, the program is not started, and gets no message, once that is over: a host that was frozen finds out
 *     before it writes.
 */
import type { ChildProcess } from 'node:child_process';
import type { JSONRPCMessage, RequestId } from '../../mcp/messages.js';
import type { StopPolicy } from '../../../machines/policy/policy.js';
import { THIS_PLATFORM } from '../../platform/platform.js';
import type { Clock } from '../../ports.js';
import { runGuarded, type SessionTransport, type TransportNotice } from '../session-transport.js';
import type { MessageLimits } from '../../json/parse-json.js';
import { writeJson } from '../../json/write-json.js';
import { DEFAULT_MESSAGE_LIMITS, excessOfBytes, jsonLimits, tooLargeAnswer } from '../message-limits.js';
import { TransportError, type RawFailure } from '../../failures/transport-error.js';
import { LEASE_LOST, type RunTerm } from '../run-term.js';
import { guardServer } from './guard.js';
import { newSessionMark } from './owner-mark.js';
import type { NoiseBurst } from '../noise-gate.js';
import {
  ServerProcess,
  type ServerProcessEvents,
  type ServerProcessOptions,
  type SpawnedChild,
} from './server-process.js';
import {
  hasSpawned,
  loadSpawn,
  missingCommand,
  spawnFailure,
  spawnServer,
  type SpawnSpec,
} from './spawn-server.js';

export { childEnvironment } from './child-environment.js';

export interface StdioTransportOptions extends SpawnSpec {
  /** Times of the stop ladder; only `stdinEndMs` and `termMs` are used here. */
  readonly stop: Pick<StopPolicy, 'stdinEndMs' | 'termMs'>;
  readonly clock: Clock;
  /** Processes that the server starts, and that have left its group and lost their parent, stay when it ends. Default false. */
  readonly keepDaemons?: boolean | undefined;
  /** A message beyond them fails the call it answers, not the session. Default: `DEFAULT_MESSAGE_LIMITS`. */
  readonly limits?: MessageLimits | undefined;
  /** The time for which the program may run; see S4. Default: for as long as it likes. */
  readonly term?: RunTerm | undefined;
  /** Masks secrets in the output of the server before it is passed on. Default: changes nothing. */
  readonly mask?: (text: string) => string;
}

const CLOSED: RawFailure = { code: 'connection-lost', message: 'The session was closed.' };

/** A transport that has not been started. `start()` spawns the process and resolves when it runs. */
export function createStdioTransport(options: StdioTransportOptions): SessionTransport {
  return new StdioTransport(options);
}

class StdioTransport implements SessionTransport {
  readonly kind = 'stdio';
  onmessage?: SessionTransport['onmessage'];
  onclose?: SessionTransport['onclose'];
  onerror?: SessionTransport['onerror'];
  onstderr?: SessionTransport['onstderr'];
  onnotice?: SessionTransport['onnotice'];
  onactivity?: SessionTransport['onactivity'];

  readonly #spec: SpawnSpec;
  readonly #limits: Omit<ServerProcessOptions, 'mark'>;
  readonly #keepsDaemons: boolean;
  #started = false;
  #server: ServerProcess | undefined;
  #ended: RawFailure | undefined;
  #reportedClose = false;
  #closing: Promise<void> | undefined;

  constructor(options: StdioTransportOptions) {
    this.#spec = options;
    this.#keepsDaemons = options.keepDaemons ?? false;
    this.#limits = {
      stop: options.stop,
      clock: options.clock,
      maxMessageBytes: options.limits?.stdioMessageBytes ?? DEFAULT_MESSAGE_LIMITS.stdioMessageBytes,
      limits: jsonLimits(options.limits ?? {}),
      term: options.term,
      mask: options.mask ?? ((text) => text),
    };
  }

  get pid(): number | undefined {
    return this.#server?.pid;
  }

  get ended(): RawFailure | undefined {
    return this.#ended;
  }

  stderrTail(): readonly string[] {
    return this.#server?.stderrTail() ?? [];
  }

  stdoutTail(): readonly string[] {
    return this.#server?.stdoutTail() ?? [];
  }

  async start(): Promise<void> {
    if (this.#started)
      throw new TransportError({
        code: 'internal',
        message: 'The transport was started before; it can start only once.',
      });
    this.#started = true;
    const spawn = await loadSpawn();
    if (!THIS_PLATFORM.hasProcessGroups) await this.#requireCommand();
    await this.#yieldToClose();
    if (this.#isTimeOver) throw new TransportError(LEASE_LOST);
    const guarded = guardServer((notice) => this.#notify(notice));
    try {
      const mark = this.#keepsDaemons ? undefined : newSessionMark();
      const child = spawnServer(spawn, this.#spec, mark);
      if (isSpawned(child))
        this.#server = new ServerProcess(child, guarded, { ...this.#limits, mark }, this.#events());
      await hasSpawned(child);
    } catch (error) {
      if (this.#server === undefined) await guarded.leave();
      throw await this.#notStarted(error);
    }
    await this.#yieldToClose();
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#server === undefined || this.#closing !== undefined) {
      return Promise.reject(new TransportError(this.#ended ?? CLOSED));
    }
    if (this.#isTimeOver) {
      this.#ended ??= LEASE_LOST;
      void this.kill();
      return Promise.reject(new TransportError(LEASE_LOST));
    }
    const text = serialize(message);
    return text instanceof TransportError ? Promise.reject(text) : this.#server.send(text);
  }

  close(): Promise<void> {
    this.#closing ??= Promise.resolve().then(() => this.#stop());
    return this.#closing;
  }

  kill(): Promise<void> {
    this.#server?.kill();
    return this.close();
  }

  get #isTimeOver(): boolean {
    const { term } = this.#limits;
    return term !== undefined && term.leftMs() <= 0;
  }

  async #requireCommand(): Promise<void> {
    const missing = await missingCommand(this.#spec, THIS_PLATFORM);
    if (missing !== undefined) throw await this.#notStarted(missing);
  }

  async #notStarted(error: unknown): Promise<TransportError> {
    const failure = await spawnFailure(error, this.#spec);
    return new TransportError({ ...failure, message: this.#limits.mask(failure.message) });
  }

  /** A close during the start wins; nothing is left when `start` rejects. */
  async #yieldToClose(): Promise<void> {
    if (this.#closing === undefined) return;
    await this.#closing;
    throw new TransportError(CLOSED);
  }

  async #stop(): Promise<void> {
    const isGone = (await this.#server?.stop(CLOSED)) ?? true;
    if (!isGone) {
      const message = 'A process of the server is still alive after SIGKILL.';
      this.#ended = { code: 'not-released', message };
    }
    this.#reportClose();
  }

  #events(): ServerProcessEvents {
    return {
      message: (message) => this.#deliver(message),
      tooLarge: (id) => this.#refuse(excessOfBytes('stdioMessageBytes', this.#limits.maxMessageBytes), id),
      tooComplex: (excess, id) => this.#refuse(excess, id),
      noise: (burst) => this.#notify(noiseNotice(burst)),
      stderr: (line) => this.#guard(() => this.onstderr?.(line)),
      activity: () => this.#guard(() => this.onactivity?.()),
      ended: (failure) => {
        this.#ended = failure;
        // Pending sends are rejected first, each with whether anything of it was written.
        setImmediate(() => this.#reportClose());
      },
    };
  }

  #deliver(message: JSONRPCMessage): void {
    if (this.#reportedClose) return;
    this.#guard(() => this.onmessage?.(message));
  }

  #refuse(why: string, id: RequestId | undefined): void {
    this.#notify({ kind: 'message-too-large', message: `Skipped a message that ${why}.` });
    if (id !== undefined) this.#deliver(tooLargeAnswer(id, why));
  }

  #notify(notice: TransportNotice): void {
    this.#guard(() => this.onnotice?.(notice));
  }

  #reportClose(): void {
    if (this.#reportedClose) return;
    this.#reportedClose = true;
    this.#guard(() => this.onclose?.());
  }

  /** Runs a callback of the host. */
  #guard(callback: () => void): void {
    runGuarded(this, callback);
  }
}

function isSpawned(child: ChildProcess): child is SpawnedChild {
  return child.pid !== undefined;
}

function serialize(message: JSONRPCMessage): string | TransportError {
  try {
    return `${writeJson(message)}\n`;
  } catch (cause) {
    return new TransportError(
      { code: 'protocol-error', message: 'The message cannot be written as JSON.' },
      { cause },
    );
  }
}

function noiseNotice({ count, sample }: NoiseBurst): TransportNotice {
  const what = count === 1 ? 'A line on stdout was' : `${count} lines on stdout were`;
  return {
    kind: 'stdout-noise',
    message: `${what} not JSON-RPC${count === 1 ? '' : ', the first'}: ${sample}`,
  };
}
