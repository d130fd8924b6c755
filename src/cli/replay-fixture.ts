/** An incident as a test: the log of one connection, and a vitest file that has it happen again. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { connectionName } from '../event-log/address.js';
import { bodyOf, Chain, toLine } from '../event-log/chain.js';
import type { CauseEntry, LogEntry, LogHeader } from '../event-log/entry.js';
import { LogParser } from '../event-log/read-log.js';
import type { ReplayReport } from '../event-log/replay-log.js';
import { SteadyTime } from '../event-log/steady-time.js';
import { makeFolder } from '../make-folder.js';
import { PACKAGE } from '../package.js';
import { recordedConnection } from '../testing/recorded-sessions.js';
import { UsageError } from './usage-error.js';
import { writeWholeFile } from './write-whole-file.js';

export interface FixtureOrder {
  /** Made where it is not there. */
  readonly folder: string;
  /** The files of the log, the oldest first. */
  readonly files: readonly string[];
  readonly report: ReplayReport;
  /** Default: the only one. */
  readonly connection: string | undefined;
}

/**
 * Gives the files that were written. Throws a `UsageError` where the log tells of several connections and none was
 * named, where it does not tell of a whole session of the one that was, and where a file is there already.
 */
export async function exportFixture({
  folder,
  files,
  report,
  connection,
}: FixtureOrder): Promise<readonly string[]> {
  const name = connection ?? onlyOf([...report.connections.keys()]);
  const { header, entries } = await readAll(files);
  const played = entries.slice(0, report.entries);
  const own = played.filter((entry) => isAbout(entry, name));
  const { states, sessions } = recordedConnection(own, name);
  if (header === undefined || sessions.length === 0)
    throw new UsageError(`The log tells of no session of '${name}' from its begin on.`);
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

/** Vitest looks at no hidden file, and what begins with a dash is an option. */
function fileNameOf(name: string): string {
  const plain = name.replaceAll(/[^\p{L}\p{M}\p{N}_.-]+/gu, '-').replaceAll(/^[.-]+|[.-]+$/g, '');
  return plain || 'server';
}

/** For everybody who may see what is beside it. */
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
  if (names.length === 0) throw new UsageError('The log tells of no connection that could be exported.');
  const all = names.map((name) => `'${name}'`).join(', ');
  throw new UsageError(`The log tells of ${all}: --connection says which is to be exported.`);
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeWholeFile(file, text, { overwrite: false });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(
      code === 'EEXIST' ? `'${file}' is there already.` : `'${file}' cannot be written: ${message}`,
    );
  }
}

async function readAll(
  files: readonly string[],
): Promise<{ readonly header: LogHeader | undefined; readonly entries: readonly LogEntry[] }> {
  let header: LogHeader | undefined;
  const entries: LogEntry[] = [];
  for (const file of files) {
    const parser = new LogParser();
    for (const piece of [...parser.push(await readFile(file)), ...parser.end()]) {
      if (piece.type === 'header') header ??= piece.header;
      else if (piece.type === 'entry') entries.push(piece.entry);
    }
  }
  return { header, entries };
}

/** The manager's part stays as far as it began the connection. */
function isAbout(entry: LogEntry, name: string): boolean {
  if (entry.kind === 'note') return entry.note['connection'] === name || entry.note.type.startsWith('gap');
  if (entry.kind === 'snapshot') return entry.to === '$' || connectionName(entry.to) === name;
  return connectionName(entry.to) === name || tells(entry, name);
}

function tells({ moved = {}, derived = [] }: CauseEntry, name: string): boolean {
  return [...Object.keys(moved), ...derived.map(({ to }) => to)].some((to) => connectionName(to) === name);
}

/** A log again, though not one that could be replayed: what the other connections did is missing. */
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

/** So many milliseconds of a recording pass in one second, also on a slow machine. */
const PASS_IN_A_SECOND = 10_000_000;

/** Real milliseconds in which it has to go through them: what is usual for a test, and what a long recording needs. */
function limitMs(entries: readonly LogEntry[]): number {
  const time = new SteadyTime();
  const times = entries.map(({ at }) => time.of(at));
  const length = (times.at(-1) ?? 0) - (times[0] ?? 0);
  return 1_000 * (5 + Math.round(length / PASS_IN_A_SECOND));
}

function testFile(name: string, base: string, states: readonly string[], limit: number): string {
  const [own, testing] = [PACKAGE.name, `${PACKAGE.name}/testing`];
  return `// Written by 'troupe replay --export-fixture' from a recording of ${JSON.stringify(name)}. Yours to change.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createTroupe } from '${own}';
import { createRecordedServer } from '${testing}';

const NAME = ${JSON.stringify(name)};
const LOG = new URL('./${base}.jsonl', import.meta.url);

/** What it went through, until its host gave a command, it gave up, a person had to sign in, or entries were left out. */
const RECORDED = ${JSON.stringify([...states])};
/** Where it does not go so far in so many milliseconds, the states that it went through are shown. */
const PATIENCE = ${limit};

it('goes through what was recorded', async () => {
  const server = createRecordedServer(readFileSync(LOG), NAME);
  const troupe = createTroupe({ servers: { [NAME]: server.config }, clock: server.clock, seed: 1 });
  const states = [];
  let timer;
  const done = new Promise((resolve) => {
    timer = setTimeout(resolve, PATIENCE);
    troupe.events$.subscribe((event) => {
      if (event.type !== 'connection.state' || event.connection !== NAME) return;
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
