/** What an inspection server shows: a troupe that runs, or a log that was written. */
import type { Writable } from 'node:stream';
import type { Refused } from './answers.js';
import type { CommandAnswer, CommandRequest, InspectedTool } from './protocol.js';

/** Lines of a log as they stand in a file, in pieces. */
export type LogText = AsyncIterable<Uint8Array> | Iterable<string>;

export interface InspectionSource {
  /**
   * Writes messages, the hello first, for as long as the page takes them and something comes; then ends the stream. What
   * the page does not take is not held.
   */
  watch(page: Writable): void;
  /** The lines of the log until now. */
  log(): LogText;
  /** Undefined where it takes no commands and knows no tools. */
  readonly live?: LiveQuestions;
  /** Ends what it has begun: every page is told why, and its stream is ended. */
  close(why: string): Promise<void>;
}

export interface LiveQuestions {
  command(request: CommandRequest): CommandAnswer | Refused;
  /** Those of one server, or of all. */
  tools(server: string | undefined): readonly InspectedTool[] | Refused;
  /** Writes messages of Stately's protocol, for as long as the viewer takes them and something comes. */
  stately(viewer: Writable): void;
}
