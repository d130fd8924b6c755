/**
 * Converts an event log of version 1 to version 2, in which a note names its `server`; version 1 called it `connection`.
 *
 * C1. A check covers the text of the entries and the states of the machines after them. The conversion has the texts, and
 *     the fold gives the states, so a check that was valid stays valid.
 * C2. An invalid check is kept: it is also invalid in the new log, so the log replays as before. This includes all checks
 *     over the states of other charts.
 * C3. An incomplete last line is copied unchanged.
 * C4. Lines are converted as they arrive, and the new file appears when it is complete.
 */
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { bodyIn, bodyOf, Chain, toLine } from '../src/event-log/format/chain.js';
import { StateDigests, type Digest } from '../src/event-log/format/digest.js';
import { isJsonObject, type JsonObject } from '../src/json/json-object.js';
import {
  LOG_FORMAT,
  type CauseEntry,
  type LogEntry,
  type LogHeader,
  MAX_LINE_BYTES,
  versionProblem,
} from '../src/event-log/format/entry.js';
import { LogParser, type LogPiece } from '../src/event-log/format/read-log.js';
import { touchedBy } from '../src/event-log/replay/replayer.js';
import { Fold } from '../src/event-log/replay/fold.js';
import { parseJson } from '../src/json/parse-json.js';
import { LineFramer } from '../src/text/line-framer.js';

export interface Conversion {
  readonly entries: number;
  /** Number of invalid checks, which were kept. */
  readonly kept: number;
}

/** The log cannot be converted, for the reason in the message. */
export class ConversionError extends Error {}

/**
 * Writes the converted log to a file that does not exist yet. Rejects with a `ConversionError`, or with the error of the
 * file system.
 */
export async function convertLog(from: string, to: string): Promise<Conversion> {
  if (existsSync(to)) throw new ConversionError(`'${to}' already exists.`);
  const unfinished = `${to}.${process.pid}.tmp`;
  const converter = new Converter();
  try {
    await pipeline(
      createReadStream(from),
      (bytes: AsyncIterable<Buffer>) => converter.convert(bytes),
      createWriteStream(unfinished, { flags: 'wx', mode: 0o600 }),
    );
    await rename(unfinished, to);
  } finally {
    await rm(unfinished, { force: true });
  }
  const { entries, kept } = converter;
  return { entries, kept };
}

interface Line {
  readonly text: string;
  /** Whether the line feed is missing. */
  readonly isUnfinished: boolean;
}

async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let lines: (string | undefined)[] = [];
  let count = 0;
  const framer = new LineFramer(
    { line: (text) => lines.push(text), oversize: () => lines.push(undefined) },
    MAX_LINE_BYTES,
  );
  const take = (isUnfinished: boolean): Line[] => {
    const taken = lines;
    lines = [];
    return taken.map((text) => {
      count += 1;
      if (text === undefined)
        throw new ConversionError(`Line ${count} is longer than ${MAX_LINE_BYTES} bytes.`);
      return { text, isUnfinished };
    });
  };
  for await (const chunk of bytes) {
    framer.push(chunk);
    yield* take(false);
  }
  framer.end();
  yield* take(true);
}

/** Computes the checks of both logs, which differ in the text of the header and the notes. */
interface Chains {
  readonly old: Chain;
  readonly new: Chain;
}

class Converter {
  entries = 0;
  kept = 0;
  /** Reads the converted part of the new log. */
  readonly #parser = new LogParser();
  readonly #fold = new Fold();
  readonly #digests = new StateDigests();
  #chains: Chains | undefined;
  /** Entries since the last check. */
  #group: CauseEntry[] = [];

  async *convert(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
    for await (const { text, isUnfinished } of linesOf(bytes)) {
      if (this.#chains === undefined) yield this.#header(text);
      else if (isUnfinished && parseJson(text) === undefined) yield text;
      else yield this.#entry(text, this.#chains);
    }
    requireFit(this.#parser.end());
  }

  #header(line: string): string {
    const old = parseJson(line.replace(/^\ufeff/, ''));
    const problem = versionProblem(old, 1);
    if (problem === undefined) throw new ConversionError(`This log already has version ${LOG_FORMAT}.`);
    if (problem.code !== 'older') throw new ConversionError(problem.message);
    const header: LogHeader = { ...(old as LogHeader), troupeLog: LOG_FORMAT };
    const converted = `${JSON.stringify(header)}\n`;
    this.#require(converted);
    this.#chains = { old: new Chain(old as LogHeader), new: new Chain(header) };
    return converted;
  }

  #entry(line: string, chains: Chains): string {
    const old = parseJson(line);
    const isNote = isJsonObject(old) && old['kind'] === 'note';
    const converted = isNote ? withServer(old) : old;
    this.#require(`${isNote ? JSON.stringify(converted) : line}\n`);
    const entry = converted as LogEntry;
    const before = bodyIn(line, old as LogEntry);
    const body = isNote ? bodyOf(entry) : before;
    chains.old.add(before);
    chains.new.add(body);
    this.#fold.take(entry);
    this.entries += 1;
    return toLine(body, this.#checkOf(entry, chains));
  }

  #checkOf(entry: LogEntry, chains: Chains): string | null {
    const { check } = entry;
    if (entry.kind === 'snapshot' || entry.kind === 'note')
      return this.#renewed(entry.check, chains.old.check === check, chains);
    this.#group.push(entry);
    if (check === null) return null;
    const rest = this.#rest();
    const holds = chains.old.checkAfter(rest) === check;
    for (const chain of [chains.old, chains.new]) chain.rest(rest);
    return this.#renewed(check, holds, chains);
  }

  /** The states of the machines after a group, and the end of the group. */
  #rest(): Digest {
    const machines = [...touchedBy(this.#group)].flatMap((to) => {
      const folded = this.#fold.stateOf(to);
      return folded === undefined ? [] : [{ to, ...folded }];
    });
    this.#group = [];
    return this.#digests.of(machines);
  }

  #renewed(check: string, holds: boolean, chains: Chains): string {
    if (holds) return chains.new.check;
    this.kept += 1;
    for (const chain of [chains.old, chains.new]) chain.resume(check);
    return check;
  }

  /** Throws if the line is not valid in a log of version 2. */
  #require(line: string): void {
    requireFit(this.#parser.push(Buffer.from(line)));
  }
}

/** A truncated log is accepted. */
function requireFit(pieces: readonly LogPiece[]): void {
  for (const piece of pieces)
    if (piece.type === 'problem' && piece.problem.code !== 'truncated')
      throw new ConversionError(piece.problem.message);
}

/** The entry of a note with the key renamed in the same position. */
function withServer(entry: JsonObject): JsonObject {
  const { note } = entry;
  if (!isJsonObject(note)) return entry;
  const renamed = Object.entries(note).map(([key, value]) => [key === 'connection' ? 'server' : key, value]);
  return { ...entry, note: Object.fromEntries(renamed) as unknown };
}
