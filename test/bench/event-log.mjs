// What recording costs, and how fast a log is played, opened and searched. Milliseconds are this machine's.
// Usage: node test/bench/event-log.mjs [ENTRIES] (default 1,000,000 for opening and seeking)
import { openSync, writeSync, closeSync, readFileSync, rmSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fold } from '../../dist/src/event-log/fold.js';
import { openLog } from '../../dist/src/event-log/open-log.js';
import { LogParser } from '../../dist/src/event-log/read-log.js';
import { Replayer } from '../../dist/src/event-log/replayer.js';
import { Rerun } from '../../dist/src/event-log/rerun.js';
import { bodyIn } from '../../dist/src/event-log/chain.js';
import { BusyTroupe } from './busy-troupe.mjs';

const MANY = Number(process.argv[2] ?? 1_000_000);
const SOME = 30_000;
const ROUNDS = 5;

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const line = (label, value) => console.log(`  ${label.padEnd(44)} ${value.padStart(12)}`);
const count = (value) => Math.round(value).toLocaleString('en');

/** Microseconds of processor time for each step. */
async function drive(steps, sink) {
  const troupe = new BusyTroupe(sink);
  await troupe.run(2_000);
  const before = process.cpuUsage();
  await troupe.run(steps);
  const { user, system } = process.cpuUsage(before);
  await troupe.close();
  return (user + system) / steps;
}

async function costOfRecording() {
  const off = [];
  const on = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    off.push(await drive(SOME));
    on.push(await drive(SOME, { write() {}, close() {} }));
  }
  console.log(
    'Recording, microseconds of processor time an event (median of',
    ROUNDS,
    'rounds, interleaved)',
  );
  line('off', median(off).toFixed(1));
  line('on', median(on).toFixed(1));
  line('recorder', (median(on) - median(off)).toFixed(1));
}

/** A log of about so many entries, in a file. */
async function write(entries, file) {
  const fd = openSync(file, 'wx', 0o600);
  await drive(entries, { write: (lines) => void writeSync(fd, lines), close: () => closeSync(fd) });
}

function read(bytes) {
  const parser = new LogParser();
  const pieces = [];
  for (let from = 0; from < bytes.length; from += 1 << 20)
    pieces.push(...parser.push(bytes.subarray(from, from + (1 << 20))));
  pieces.push(...parser.end());
  const [{ header }, ...rest] = pieces;
  return { header, entries: rest };
}

function speed(label, entries, work) {
  const rates = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (entries.length / (user + system)) * 1e6;
  });
  line(label, count(median(rates)));
}

function replaying(bytes) {
  const { header, entries } = read(bytes);
  const causes = entries.filter(({ entry }) => entry.kind !== 'note' && entry.kind !== 'snapshot');
  const deliveries = causes.reduce((sum, { entry }) => sum + 1 + (entry.derived?.length ?? 0), 0);
  console.log(
    `Replaying, entries a second of processor time (median of ${ROUNDS} rounds, ${count(entries.length)} entries`,
  );
  console.log(`  with ${(deliveries / causes.length).toFixed(2)} events each)`);
  speed('read and check the lines', entries, () => read(bytes));
  speed('fold', entries, () => {
    const fold = new Fold();
    for (const { entry } of entries) fold.take(entry);
  });
  speed('re-run of the actors', entries, () => {
    const rerun = new Rerun(header);
    for (const { entry } of causes) {
      rerun.play(entry);
      if (entry.check !== null) rerun.takeGroup();
    }
    rerun.stop();
  });
  speed('both, compared with each other and the log', entries, () => {
    const replayer = new Replayer(header);
    for (const { entry, text } of entries) replayer.take(entry, bodyIn(text, entry));
    replayer.end();
    if (replayer.divergenceCount > 0) throw new Error(replayer.divergences[0].message);
  });
}

function looking(bytes) {
  const begun = performance.now();
  const log = openLog(bytes);
  const opened = performance.now() - begun;
  const megabytes = (bytes.length / 1e6).toFixed(0);
  console.log(`Looking at ${count(log.last)} entries (${megabytes} MB)`);
  line('open, ms', opened.toFixed(0));
  const changes = performance.now();
  let bars = 0;
  for (const _ of log.changes()) bars += 1;
  line(`all ${count(bars)} changes of states, ms`, (performance.now() - changes).toFixed(0));
  const seeks = Array.from({ length: 100 }, (_, index) => {
    const entry = 1 + ((index * 7_919_317) % log.last);
    const before = performance.now();
    log.at(entry);
    return performance.now() - before;
  });
  line('any moment, ms (median of 100)', median(seeks).toFixed(1));
  line('any moment, ms (longest)', Math.max(...seeks).toFixed(1));
}

await costOfRecording();
const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'));
try {
  await write(SOME, join(folder, 'some.jsonl'));
  replaying(readFileSync(join(folder, 'some.jsonl')));
  await write(MANY, join(folder, 'many.jsonl'));
  looking(new Uint8Array(readFileSync(join(folder, 'many.jsonl'))));
} finally {
  rmSync(folder, { recursive: true });
}
