/** The data behind an inspection server: a running troupe, or a recorded log. */
import type { Writable } from 'node:stream';
import type { Refused } from './inspector-answers.js';
import type { CommandAnswer, CommandRequest, InspectedTool } from './page-protocol.js';

/** Lines of a log as in a file, in pieces. */
export type LogText = AsyncIterable<Uint8Array> | Iterable<string>;

export interface InspectionSource {
  /**
   * Writes messages, the hello first, while the page reads and messages come; then ends the stream. Nothing is queued
   * for a page that does not read.
   */
  watch(page: Writable): void;
  /** The lines of the log so far. */
  log(): LogText;
  /** Undefined for a source that takes no commands and has no tools. */
  readonly live?: LiveQuestions;
  /** Ends its streams and tells every page why. */
  close(why: string): Promise<void>;
}

export interface LiveQuestions {
  command(request: CommandRequest): CommandAnswer | Refused;
  /** The tools of one server, or of all. */
  tools(server: string | undefined): readonly InspectedTool[] | Refused;
  /** Writes messages of Stately's protocol while the viewer reads and messages come. */
  stately(viewer: Writable): void;
}
