/**
 * Output of a command: results on stdout, notes on stderr, each with its own colors.
 *
 * T1. When a reader goes away, nothing ends by force: `gone` is aborted, and later output is dropped.
 * T2. While a part of the screen is redrawn (see `live-area.ts`), other output appears above it. While the whole screen is in
 *     use, other output is diverted.
 */
import { visibleJson } from '../../json/write-json.js';
import picocolors from 'picocolors';
import type { JsonOutput } from './json-output.js';
import { cleanText } from '../../text/server-text.js';
import { visibleName } from '../../text/visible-text.js';

export type OutputStream = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

export interface Streams {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Commands that print more, or wait, after a result: a program reads them by lines. */
const RUNNING_ON: ReadonlySet<keyof JsonOutput> = new Set(['up', 'serve', 'inspect', 'logs']);

/** A part of the screen that moves aside for other output. */
export interface Overlay {
  erase(): void;
  redraw(): void;
}

export class Terminal {
  /** Colors for what goes to stdout. */
  readonly colors: Colors;
  /** Colors for notes. */
  readonly noteColors: Colors;
  /** Aborted when stdout has no reader any more. */
  readonly gone: AbortSignal;
  overlay: Overlay | undefined;
  /** Takes the text for a terminal whose whole screen is in use. */
  diversion: ((text: string) => void) | undefined;

  constructor(
    private readonly streams: Streams,
    gone: AbortSignal,
    isColorAllowed: boolean,
  ) {
    const { env } = streams;
    const colors = (stream: OutputStream): Colors =>
      colorsFor({ isTerminal: stream.isTTY === true, isAllowed: isColorAllowed, env });
    this.colors = colors(streams.stdout);
    this.noteColors = colors(streams.stderr);
    this.gone = gone;
  }

  get stdout(): OutputStream {
    return this.streams.stdout;
  }

  get stderr(): OutputStream {
    return this.streams.stderr;
  }

  /** Whether a stream can be redrawn. A terminal of unknown size reports 0. */
  isLive(stream: OutputStream): boolean {
    const hasSize = stream.columns !== 0 && stream.rows !== 0;
    return stream.isTTY === true && hasSize && this.streams.env['TERM'] !== 'dumb';
  }

  /** Whether a job of continuous integration runs the command, which nobody watches. */
  get isOfCi(): boolean {
    return isSet(this.streams.env['CI']);
  }

  /** Prints a part of the result. */
  print(text: string): void {
    this.#write(this.streams.stdout, text);
  }

  /** Prints the result of a command as JSON: on one line, if the command runs on. */
  printJson<T extends keyof JsonOutput>(
    command: T,
    value: JsonOutput[T],
    form: 'line' | 'page' = RUNNING_ON.has(command) ? 'line' : 'page',
  ): void {
    this.print(visibleJson(value, form === 'line' ? undefined : 2));
  }

  /** Prints something worth knowing that is not the result. */
  note(text: string): void {
    this.#write(this.streams.stderr, text);
  }

  #write(stream: OutputStream, text: string): void {
    if (this.gone.aborted && stream === this.streams.stdout) return;
    if (this.diversion !== undefined && stream.isTTY === true) return this.diversion(text);
    this.overlay?.erase();
    stream.write(`${text}\n`);
    this.overlay?.redraw();
  }
}

/** Handles readers that go away, for as long as the process lives: a late `EPIPE` must not end it with a stack trace. */
export function watchReaders({ stdout, stderr }: Pick<Streams, 'stdout' | 'stderr'>): AbortSignal {
  const gone = new AbortController();
  stdout.on('error', (error) => gone.abort(error));
  stderr.on('error', () => {});
  return gone.signal;
}

// Whether a stream gets colors: `--no-color` decides first, then `NO_COLOR` (no-color.org), then `FORCE_COLOR`, then
// whether it is a terminal that supports them.

export type Colors = ReturnType<typeof picocolors.createColors>;

export interface ColorChoice {
  readonly isTerminal: boolean;
  /** False if `--no-color` was given. */
  readonly isAllowed: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function colorsFor(choice: ColorChoice): Colors {
  return picocolors.createColors(wantsColor(choice));
}

function wantsColor({ isTerminal, isAllowed, env }: ColorChoice): boolean {
  if (!isAllowed || isSet(env['NO_COLOR'])) return false;
  const forced = env['FORCE_COLOR'];
  if (isSet(forced)) return forced !== '0' && forced !== 'false';
  return isTerminal && env['TERM'] !== 'dumb';
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

// Makes text from others (servers, files, names) safe to show: nothing in it controls the terminal.

/** On one line: each run of white space becomes one space. */
export function oneLine(text: string): string {
  return cleanText(text.replace(/\s+/g, ' ').trim());
}

/** The name of a server, on one line, in which no character can be taken for another. */
export function nameOf(server: string): string {
  return visibleName(oneLine(server));
}

/** Keeps the line breaks. */
export function manyLines(text: string): string {
  return text.split(/\r?\n/).map(cleanText).join('\n');
}
