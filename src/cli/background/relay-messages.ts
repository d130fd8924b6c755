/** What a command and the background process say to each other: a line of JSON for each message. */
import type { Socket } from 'node:net';
import { LineFramer } from '../../text/line-framer.js';
import type { ExitCode } from '../exit.js';

/** What the caller's stream is. */
export interface StreamFacts {
  readonly isTTY: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** A command line to run as if it ran in the caller's process. */
export interface RunRequest {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: StreamFacts;
  readonly stderr: StreamFacts;
}

/** The first message of a connection, from the background process. */
export interface Greeting {
  readonly version: string;
  readonly pid: number;
}

export type FromCaller =
  | { readonly type: 'run'; readonly request: RunRequest }
  /** Asks the process to end. */
  | { readonly type: 'stop' }
  /** A part of stdin in base64; null at its end. */
  | { readonly type: 'stdin'; readonly data: string | null }
  /** Ctrl-C. */
  | { readonly type: 'interrupt' }
  /** Nobody reads stdout any more. */
  | { readonly type: 'gone' };

export type FromBackground =
  /** Bytes for a stream, in base64. */
  | { readonly type: 'output'; readonly stream: 'stdout' | 'stderr'; readonly data: string }
  /** The command reads from stdin. */
  | { readonly type: 'stdin-wanted' }
  /** It does not run the command, and nothing has happened. */
  | { readonly type: 'declined'; readonly why: string }
  /** The last message. */
  | { readonly type: 'exit'; readonly code: ExitCode };

/** More than a command line with its environment can have. */
const LONGEST_LINE = 16 * 1_024 * 1_024;
const LARGEST_CHUNK = 64 * 1_024;

/** A message that cannot be sent is dropped: the end of the connection is noticed elsewhere. */
export function send(socket: Socket, message: FromCaller | FromBackground | Greeting): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

export function sendOutput(socket: Socket, stream: 'stdout' | 'stderr', bytes: Buffer): void {
  for (let at = 0; at < bytes.length; at += LARGEST_CHUNK) {
    const data = bytes.subarray(at, at + LARGEST_CHUNK).toString('base64');
    send(socket, { type: 'output', stream, data });
  }
}

/** Reads only as fast as the messages are taken. Throws if the connection fails, or for anything that is no message. */
export async function* messagesOf<T>(socket: Socket): AsyncGenerator<T, undefined, undefined> {
  const lines: string[] = [];
  const framer = new LineFramer(
    { line: (text) => lines.push(text), oversize: () => socket.destroy() },
    LONGEST_LINE,
  );
  for await (const chunk of socket) {
    framer.push(chunk as Buffer);
    for (const line of lines.splice(0)) yield JSON.parse(line) as T;
  }
  return undefined;
}
