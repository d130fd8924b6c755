/**
 * Turns an incident into a test: the log of one connection, and a vitest file that reproduces it.
 *
 * X1. Anybody may have written the log. The test contains only two things from it, the name of the connection and the states
 *     of the chart, and both as JSON literals: never as code, and not even in a comment.
 * X2. The server of the test has a name that the configuration accepts, whatever the log calls it.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { connectionName } from '../actor-system/actor-path.js';
import { nameProblems } from '../config/entry/validate-entry.js';
import { bodyOf, Chain, toLine } from '../event-log/format/chain.js';
import type { CauseEntry, LogEntry, LogHeader } from '../event-log/format/entry.js';
import { bytesOf, type LogSource } from '../event-log/format/log-source.js';
import { LogParser } from '../event-log/format/read-log.js';
import { MonotonicTime } from '../event-log/format/monotonic-time.js';
import type { ReplayReport } from '../event-log/replay/replay-log.js';
import { visibleJson } from '../json/write-json.js';
import { makeFolder } from '../storage/folders.js';
import { PACKAGE } from '../package.js';
import { recordedConnection } from '../testing/recorded-sessions.js';
import { UsageError } from './exit.js';
import { writeWholeFile } from './output/write-whole-file.js';

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
  await write(log, trimmed(header, own));
  try {
    await write(test, testFile(name, base, states, limitMs(own)));
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
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(
      code === 'EEXIST' ? `'${file}' exists already.` : `'${file}' cannot be written: ${code ?? message}`,
    );
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

/** Keeps the manager's part that began the connection. */
function isAbout(entry: LogEntry, name: string): boolean {
  if (entry.kind === 'note') return entry.note['server'] === name || entry.note.type.startsWith('gap');
  if (entry.kind === 'snapshot') return entry.to === '$' || connectionName(entry.to) === name;
  return connectionName(entry.to) === name || concerns(entry, name);
}

function concerns({ moved = {}, derived = [] }: CauseEntry, name: string): boolean {
  return [...Object.keys(moved), ...derived.map(({ to }) => to)].some((to) => connectionName(to) === name);
}

/** A log again, but one that cannot be replayed: the events of the other connections are missing. */
function trimmed(header: LogHeader, entries: readonly LogEntry[]): string {
  const chain = new Chain(header);
  const lines = entries.map((entry, index) => {
    const left = entry.kind === 'snapshot' ? { left: 0 } : {};
    const body = bodyOf({ ...entry, ...left, seq: header.firstSeq + index });
    chain.add(body);
    return toLine(body, chain.check);
  });
  return [`${JSON.stringify(header)}\n`, ...lines].join('');
}

/** Milliseconds of a recording that pass in one second, even on a slow machine. */
const PASS_IN_A_SECOND = 10_000_000;
/** Real milliseconds. The times in a log may be centuries apart. */
const MOST_PATIENCE = 3_600_000;

/** Real milliseconds that the test may take: the usual limit of a test, and more for a long recording. */
function limitMs(entries: readonly LogEntry[]): number {
  const time = new MonotonicTime();
  const times = entries.map(({ at }) => time.of(at));
  const length = (times.at(-1) ?? 0) - (times[0] ?? 0);
  return Math.min(1_000 * (5 + Math.round(length / PASS_IN_A_SECOND)), MOST_PATIENCE);
}

/** The server of a test whose log has a name that no configuration has. */
const NAMELESS = 'recorded';

function testFile(name: string, base: string, states: readonly string[], limit: number): string {
  const [own, testing] = [PACKAGE.name, `${PACKAGE.name}/testing`];
  return `// Written by 'troupe replay --export-fixture' from a recording. You may change it.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createTroupe } from '${own}';
import { createRecordedServer } from '${testing}';

const NAME = ${visibleJson(name)};
const SERVER = ${visibleJson(nameProblems(name).length === 0 ? name : NAMELESS)};
const LOG = new URL(${visibleJson(`./${base}.jsonl`)}, import.meta.url);

/** The recorded states, until its host gave a command, it gave up, a person had to sign in, or entries were left out. */
const RECORDED = ${visibleJson(states)};
/** If it does not get that far in this many milliseconds, the test shows the states that it reached. */
const PATIENCE = ${limit};

it('goes through what was recorded', async () => {
  const server = createRecordedServer(readFileSync(LOG), NAME);
  const troupe = createTroupe({ servers: { [SERVER]: server.config }, clock: server.clock, seed: 1 });
  const states = [];
  let timer;
  const done = new Promise((resolve) => {
    timer = setTimeout(resolve, PATIENCE);
    troupe.events$.subscribe((event) => {
      if (event.type !== 'connection.state' || event.server !== SERVER) return;
      if (states.at(-1) !== event.to) states.push(event.to);
      if (states.length >= RECORDED.length) resolve();
    });
  });
  try {
    await troupe.start();
    await done;
  } finally {
    clearTimeout(timer);
    await troupe.close();
  }
  expect(states.slice(0, RECORDED.length)).toEqual(RECORDED);
}, 2 * PATIENCE);
`;
}
