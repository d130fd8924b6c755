/** The data behind an inspection server: a running troupe, or a recorded log. */
import type { Readable, Writable } from 'node:stream';
import type { Refused } from './inspector-answers.js';
import {
  type CommandAnswer,
  type CommandRequest,
  type InspectedTool,
  INSPECTION_PROTOCOL,
  type Hello,
} from './page-protocol.js';
import type { AnyStateMachine } from 'xstate';
import { CHARTS } from '../../machines/charts.js';
import { PACKAGE } from '../package.js';
import { chartHash } from '../charts/chart-hash.js';
import { chartModel } from '../charts/chart-model.js';

/** Lines of a log as in a file, in pieces. */
export type LogText = AsyncIterable<Uint8Array> | Iterable<string>;

export interface InspectionSource {
  /**
   * Writes messages, the hello first, while the page reads and messages come; then ends the stream. Nothing is queued
   * for a page that does not read.
   */
  watch(page: Writable): void;
  /** The lines of the log so far; with a signal, also those that a growing file gets until it aborts. */
  log(followed?: AbortSignal): LogText;
  /** Undefined for a source that takes no commands and has no tools. */
  readonly live?: LiveQuestions;
  /** Undefined for a source that has no hosts. */
  readonly hosts?: HostStreams;
  /** Ends its streams and tells every page why. */
  close(why: string): Promise<void>;
}

/** The hosts of a fleet. */
export interface HostStreams {
  /** The messages of the live inspection of that host, until the signal aborts. */
  open(host: string, gone: AbortSignal): Promise<Readable | Refused>;
}

export interface LiveQuestions {
  command(request: CommandRequest): CommandAnswer | Refused;
  /** The tools of one server, or of all. */
  tools(server: string | undefined): readonly InspectedTool[] | Refused;
  /** Writes messages of Stately's protocol while the viewer reads and messages come. */
  stately(viewer: Writable): void;
}

// The first message of every stream: the sender, and its charts.

let charts: Hello['charts'] | undefined;

export function makeHello(mode: Hello['mode'], title: string, at: number): Hello {
  charts ??= Object.fromEntries(
    Object.entries<AnyStateMachine>(CHARTS).map(([name, machine]) => {
      const model = chartModel(machine);
      return [name, { hash: chartHash(model), model }];
    }),
  );
  return { kind: 'hello', protocol: INSPECTION_PROTOCOL, package: PACKAGE, mode, title, charts, at };
}
