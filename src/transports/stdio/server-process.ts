/**
 * One running server process and its three pipes.
 *
 * Owns the child, its process tree, its place with the guard, and everything that reads or writes its pipes. It does
 * not know the promises of the session transport. It reports through `ServerProcessEvents`, which must not throw.
 *
 * P1. stderr is always drained: a server that logs must not block.
 * P2. stdout is read as long as the session lasts, also while the process is being stopped.
 * P3. `stop` leaves no listener that acts, no timer and no open pipe, even if another process holds the other end.
 */
import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, RequestId } from '../../mcp/messages.js';
import type { ProcessExit } from '../../../machines/policy/failure.js';
import type { StopPolicy } from '../../../machines/policy/policy.js';
import type { Clock } from '../../ports.js';
import type { RawFailure } from '../../failures/transport-error.js';
import { cleanText } from '../../text/server-text.js';
import { endFailure, EndWatch, afterPendingReads } from './end-watch.js';
import type { JsonLimits } from '../../json/parse-json.js';
import type { GuardLocation } from './guard.js';
import { LineFramer } from '../../text/line-framer.js';
import { MessageReader } from './message-reader.js';
import { excessOfBytes } from '../message-limits.js';
import { NoiseGate, type NoiseBurst } from '../noise-gate.js';
import type { SessionMark } from './owner-mark.js';
import type { RunTerm } from '../run-term.js';
import { startedTree } from './process-tree.js';
import { StopLadder } from './stop-ladder.js';
import { WriteQueue } from './write-queue.js';

export interface ServerProcessEvents {
  message(message: JSONRPCMessage): void;
  tooLarge(id: RequestId | undefined): void;
  tooComplex(excess: string, id: RequestId | undefined): void;
  noise(burst: NoiseBurst): void;
  stderr(line: string): void;
  /** Bytes on stdout. */
  activity(): void;
  /** The session is over, and Troupe did not end it. At most once, never after `stop`. */
  ended(failure: RawFailure): void;
}

export interface ServerProcessOptions {
  readonly stop: Pick<StopPolicy, 'stdinEndMs' | 'termMs'>;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  readonly limits: JsonLimits;
  readonly mask: (text: string) => string;
  /** The marks that it was started with; undefined if it has none. */
  readonly mark: SessionMark | undefined;
  /** Without one, it may run for as long as it likes. */
  readonly term?: RunTerm | undefined;
}

/** A child that was spawned: it has a process id and all three pipes. */
export interface SpawnedChild extends ChildProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

/** Longest line of stderr that is kept whole. */
const STDERR_LINE_BYTES = 4 * 1024;
/** A line beyond the limit that has not ended after this time is reported. */
const LINE_END_MS = 1_000;
const NOISE_SAMPLE_CHARACTERS = 200;
const UNGUARDED: RawFailure = {
  code: 'spawn-failed',
  message:
    'A server that runs once in the fleet needs a guard, a shell script, and that could not be started.',
};

export class ServerProcess {
  readonly pid: number;
  readonly #child: SpawnedChild;
  readonly #guarded: GuardLocation;
  readonly #events: ServerProcessEvents;
  readonly #stderr = new OutputRing();
  /** Lines on stdout before any message. */
  readonly #stdout = new OutputRing();
  /** What it wrote to stdout that is neither a message nor noise yet. */
  #unread: () => readonly string[] = () => [];
  readonly #clock: Clock;
  /** Timer of a line beyond the limit that has not ended. */
  #oversize: unknown;
  readonly #writes: WriteQueue;
  readonly #noise: NoiseGate;
  readonly #end: EndWatch;
  readonly #ladder: StopLadder;

  constructor(
    child: SpawnedChild,
    guarded: GuardLocation,
    options: ServerProcessOptions,
    events: ServerProcessEvents,
  ) {
    const { clock, mask } = options;
    this.pid = child.pid;
    this.#child = child;
    this.#clock = clock;
    this.#guarded = guarded;
    const isGuarded = guarded.cover(child.pid, options.term);
    this.#events = events;
    this.#end = new EndWatch(clock, (cause) => {
      this.#noise.flush();
      const failure = endFailure(cause, this.#stderr.lines(), this.stdoutTail());
      this.#writes.fail(failure);
      events.ended(failure);
    });
    this.#writes = new WriteQueue(child.stdin, () => this.#end.pipeClosed('stdin-broken'));
    const shown = (line: string): string => mask(cleanText(line.slice(0, NOISE_SAMPLE_CHARACTERS)));
    this.#noise = new NoiseGate(clock, ({ count, sample }) => events.noise({ count, sample: shown(sample) }));
    const tree = startedTree(child, child.pid, options.mark);
    this.#ladder = new StopLadder({
      tree,
      clock,
      policy: options.stop,
      endInput: () => this.#writes.finish(),
    });
    const exited = (exit: ProcessExit): void => {
      this.#ladder.leaderEnded(() => {
        if (!tree.isAlive()) void guarded.leave();
      });
      this.#end.exited(exit);
    };
    child.on('exit', (code, signal) => exited({ code, signal }));
    child.on('error', () => {
      // cross-spawn turns the exit of a shell that did not find its command into an error.
      if (child.exitCode !== null) exited({ code: child.exitCode, signal: null });
    });
    this.#readMessages(options, shown);
    this.#readStderr(mask);
    child.stdin.on('error', ignore);
    if (options.term !== undefined && !isGuarded) {
      this.kill();
      events.ended(UNGUARDED);
    }
  }

  stderrTail(): readonly string[] {
    return this.#stderr.lines();
  }

  stdoutTail(): readonly string[] {
    return [...this.#stdout.lines(), ...this.#unread()];
  }

  send(text: string): Promise<void> {
    return this.#writes.send(text);
  }

  /** Runs the stop ladder. Resolves to whether nothing of the process tree is left. Runs once. */
  async stop(closed: RawFailure): Promise<boolean> {
    this.#end.stop();
    const isGone = await this.#ladder.run();
    await new Promise<void>((resolve) => void afterPendingReads(resolve));
    this.#noise.flush();
    this.#writes.fail(closed);
    this.#forgetOversize();
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream.destroy();
    if (isGone) await this.#guarded.leave();
    else this.#child.unref();
    return isGone;
  }

  /** Sends SIGKILL to the whole tree before it returns. Speeds up a running `stop`, and does not replace it. */
  kill(): void {
    this.#ladder.kill();
  }

  #forgetOversize(): void {
    if (this.#oversize !== undefined) this.#clock.clearTimeout(this.#oversize);
    this.#oversize = undefined;
  }

  #readMessages(
    { maxMessageBytes, limits }: Pick<ServerProcessOptions, 'maxMessageBytes' | 'limits'>,
    shown: (line: string) => string,
  ): void {
    const clock = this.#clock;
    const { stdout } = this.#child;
    let hasSpoken = false;
    const reader = new MessageReader(
      {
        message: (message) => {
          if (!hasSpoken) this.#stdout.clear();
          hasSpoken = true;
          this.#events.message(message);
        },
        noise: (line) => {
          if (!hasSpoken) this.#stdout.push(shown(line));
          this.#noise.add(line);
        },
        tooLarge: (id) => this.#events.tooLarge(id),
        tooComplex: (excess, id) => this.#events.tooComplex(excess, id),
        endless: () => this.#end.unreadable(excessOfBytes('stdioMessageBytes', maxMessageBytes)),
      },
      maxMessageBytes,
      limits,
    );
    this.#unread = () => (hasSpoken ? [] : reader.unread.map(shown));
    stdout.on('data', (chunk: Buffer) => {
      this.#events.activity();
      reader.push(chunk);
      if (reader.isBeyondLimit && this.#oversize === undefined) {
        this.#oversize = clock.setTimeout(() => reader.reportTooLarge(), LINE_END_MS);
      } else if (!reader.isBeyondLimit) this.#forgetOversize();
    });
    stdout.on('end', () => {
      this.#forgetOversize();
      reader.end();
      this.#end.pipeClosed('stdout-closed');
    });
    stdout.on('error', () => this.#end.pipeClosed('stdout-closed'));
  }

  #readStderr(mask: (text: string) => string): void {
    const { stderr } = this.#child;
    const keep = (text: string): void => {
      const line = mask(cleanText(text));
      this.#stderr.push(line);
      this.#events.stderr(line);
    };
    const framer = new LineFramer(
      { line: keep, oversize: ({ head }) => keep(`${head}…`) },
      STDERR_LINE_BYTES,
    );
    stderr.on('data', (chunk: Buffer) => framer.push(chunk));
    stderr.on('end', () => framer.end());
    stderr.on('error', ignore);
  }
}

/** A failed write, or the end of the process, reports a broken pipe. */
function ignore(): void {
  return;
}

const MAX_LINES = 200;
const MAX_CHARACTERS = 64 * 1024;

/** The last lines that a server wrote to one pipe: at most 200 lines and 64 Ki characters. The oldest are dropped first. */
export class OutputRing {
  readonly #lines: string[] = [];
  #characters = 0;

  clear(): void {
    this.#lines.length = 0;
    this.#characters = 0;
  }

  push(line: string): void {
    this.#lines.push(line);
    this.#characters += line.length;
    while (this.#lines.length > MAX_LINES || this.#characters > MAX_CHARACTERS) {
      this.#characters -= this.#lines.shift()?.length ?? 0;
    }
  }

  /** Oldest first. */
  lines(): readonly string[] {
    return [...this.#lines];
  }
}
