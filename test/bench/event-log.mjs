// What recording costs, and how fast a log is played, opened and searched. Milliseconds are this machine's, and a machine
// that has other things to do needs more of them for the same: so what the charts themselves cost in the same run is
// printed beside, as the measure of both.
// Usage: node test/bench/event-log.mjs [--entries N] (default 1,000,000 for opening and seeking)
import { openSync, writeSync, closeSync, readFileSync, rmSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Fold } from '../../dist/src/event-log/fold.js';
import { openLog } from '../../dist/src/event-log/open-log.js';
import { LogParser } from '../../dist/src/event-log/read-log.js';
import { Replayer } from '../../dist/src/event-log/replayer.js';
import { Rerun } from '../../dist/src/event-log/rerun.js';
import { bodyIn } from '../../dist/src/event-log/chain.js';
import { BusyTroupe } from './busy-troupe.mjs';

const { values: options } = parseArgs({ options: { entries: { type: 'string', default: '1000000' } } });
const MANY = Number(options.entries);
const SOME = 30_000;
const ROUNDS = 5;
/** Short ones, so that whatever else the machine does falls on all of them alike. */
const SHORT_ROUNDS = 25;
const SHORT = 4_000;

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const line = (label, value) => console.log(`  ${label.padEnd(44)} ${value.padStart(12)}`);
const count = (value) => Math.round(value).toLocaleString('en');

/** Microseconds of processor time for each step. */
async function drive(steps, sink) {
  const troupe = new BusyTroupe(sink);
  await troupe.run(500);
  const before = process.cpuUsage();
  await troupe.run(steps);
  const { user, system } = process.cpuUsage(before);
  await troupe.close();
  return (user + system) / steps;
}

/** Gives what an event costs while nothing is recorded: the charts and the bench around them. */
async function costOfRecording() {
  const off = [];
  const on = [];
  for (let round = 0; round < SHORT_ROUNDS; round += 1) {
    off.push(await drive(SHORT));
    on.push(await drive(SHORT, { write() {}, close() {} }));
  }
  const recorder = on.map((cost, round) => cost - off[round]);
  console.log(
    `Recording, microseconds of processor time an event (median of ${SHORT_ROUNDS} rounds, interleaved)`,
  );
  line('off: the charts', median(off).toFixed(1));
  line('on', median(on).toFixed(1));
  line('recorder', median(recorder).toFixed(1));
  line('recorder, as a share of the charts', (median(recorder) / median(off)).toFixed(2));
  return median(off);
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
  return 1e6 / median(rates);
}

function replaying(bytes, charts) {
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
  const rerunning = speed('re-run of the actors', entries, () => {
    const rerun = new Rerun(header);
    for (const { entry } of causes) {
      rerun.play(entry);
      if (entry.check !== null) rerun.takeConsequences();
    }
    rerun.stop();
  });
  line('an entry of it, as a share of the charts', (rerunning / charts).toFixed(2));
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

const charts = await costOfRecording();
const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'));
try {
  await write(SOME, join(folder, 'some.jsonl'));
  replaying(readFileSync(join(folder, 'some.jsonl')), charts);
  await write(MANY, join(folder, 'many.jsonl'));
  looking(readFileSync(join(folder, 'many.jsonl')));
} finally {
  rmSync(folder, { recursive: true });
}
