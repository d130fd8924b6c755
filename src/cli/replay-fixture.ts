/** Turns an incident into files: the log of one connection, and a vitest file that reproduces it (`src/fixtures`). */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogEntry, LogHeader } from '../event-log/format/entry.js';
import { bytesOf, type LogSource } from '../event-log/format/log-source.js';
import { LogParser } from '../event-log/format/read-log.js';
import type { ReplayReport } from '../event-log/replay/replay-log.js';
import { fixtureLines, isAbout } from '../fixtures/fixture-log.js';
import { patienceOf, statesTest } from '../fixtures/fixture-test.js';
import { makeFolder } from '../storage/folders.js';
import { recordedConnection } from '../testing/recorded-sessions.js';
import { UsageError } from './exit.js';
import { whyNotWritten, writeWholeFile } from './output/write-whole-file.js';

export interface FixtureOrder {
  /** Created if it does not exist. */
  readonly folder: string;
  /** The parts of the log, the oldest first. */
  readonly sources: readonly LogSource[];
  readonly report: ReplayReport;
  /** Default: the only server. */
  readonly server: string | undefined;
}

/**
 * Returns the files that were written. Throws a `UsageError` if the log has several servers and none was named, if it
 * does not contain a whole session of the server, or if a file exists already.
 */
export async function exportFixture({
  folder,
  sources,
  report,
  server,
}: FixtureOrder): Promise<readonly string[]> {
  const name = server ?? onlyOf([...report.connections.keys()]);
  const { header, entries } = await readAll(sources);
  const played = entries.slice(0, report.entries);
  const own = played.filter((entry) => isAbout(entry, name));
  const { states, sessions } = recordedConnection(own, name);
  if (header === undefined || sessions.length === 0)
    throw new UsageError(`The log has no session of '${name}' from its start.`);
  const base = fileNameOf(name);
  const [test, log] = [join(folder, `${base}.test.mjs`), join(folder, `${base}.jsonl`)];
  make(folder);
  await write(log, `${fixtureLines(header, own).join('\n')}\n`);
  const text = statesTest({
    writer: "'troupe replay --export-fixture'",
    name,
    title: 'goes through what was recorded',
    source: { file: `${base}.jsonl` },
    states,
    end: null,
    patienceMs: patienceOf(own),
  });
  try {
    await write(test, text);
  } catch (error) {
    await rm(log, { force: true });
    throw error;
  }
  return [test, log];
}

/** Vitest ignores hidden files, and a name that begins with a dash is an option. */
function fileNameOf(name: string): string {
  const plain = name.replaceAll(/[^\p{L}\p{M}\p{N}_.-]+/gu, '-').replaceAll(/^[.-]+|[.-]+$/g, '');
  return plain || 'server';
}

/** Readable for everybody who may read the folder around it. */
function make(folder: string): void {
  try {
    makeFolder(folder, 0o777);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function onlyOf(names: readonly string[]): string {
  const [only] = names;
  if (only !== undefined && names.length === 1) return only;
  if (names.length === 0) throw new UsageError('The log has no server to export.');
  const all = names.map((name) => `'${name}'`).join(', ');
  throw new UsageError(`The log has ${all}: choose one with --server.`);
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeWholeFile(file, text, { overwrite: false });
  } catch (error) {
    throw new UsageError(`'${file}' ${whyNotWritten(error)}`, { cause: error });
  }
}

async function readAll(
  sources: readonly LogSource[],
): Promise<{ readonly header: LogHeader | undefined; readonly entries: readonly LogEntry[] }> {
  let header: LogHeader | undefined;
  const entries: LogEntry[] = [];
  for (const source of sources) {
    const parser = new LogParser();
    for (const piece of [...parser.push(await bytesOf(source)), ...parser.end()]) {
      if (piece.type === 'header') header ??= piece.header;
      else if (piece.type === 'entry') entries.push(piece.entry);
    }
  }
  return { header, entries };
}
