// Measures the cost of recording, and the speed of replaying, opening and searching a log. Milliseconds depend on the
// machine and its load, so the cost of the charts alone in the same run is printed for comparison.
// Usage: node tools/bench/event-log.mjs [--entries N] (default 1,000,000 for opening and seeking)
import { openSync, writeSync, closeSync, readFileSync, rmSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fromDist } from './from-dist.mjs';
import { costOfRecording, drive, eventsOfActors, plain, ROUNDS } from './recording-cost.mjs';
import { median } from './statistics.mjs';

const { Fold } = await fromDist('src/event-log/replay/fold.js');
const { openBytes } = await fromDist('src/event-log/replay/open-log.js');
const { LogParser } = await fromDist('src/event-log/format/read-log.js');
const { Replayer } = await fromDist('src/event-log/replay/replayer.js');
const { Rerun } = await fromDist('src/event-log/replay/rerun.js');
const { bodyIn } = await fromDist('src/event-log/format/chain.js');

const { values: options } = parseArgs({ options: { entries: { type: 'string', default: '1000000' } } });
const MANY = Number(options.entries);
const SOME = 30_000;
/** Rounds before the code is compiled, which do not count. */
const WARM_UP_ROUNDS = 3;
const READ_ROUNDS = 9;
/** Short rounds, so that other work of the machine affects all of them equally. */
const SHORT = 4_000;

const line = (label, value) => console.log(`  ${label.padEnd(62)} ${value.padStart(12)}`);
const count = (value) => Math.round(value).toLocaleString('en');

/** Returns the cost of an entry without recording: the charts and the benchmark itself. */
async function recording(eventsPerEntry) {
  const { off, on, cost } = await costOfRecording(SHORT);
  console.log(`Recording, microseconds of processor time an entry (median of ${ROUNDS} rounds, interleaved)`);
  line('off: the charts', off.toFixed(1));
  line('on', on.toFixed(1));
  line('recorder', cost.toFixed(1));
  line('recorder, an entry that starts nothing', (await costOfRecording(SHORT, plain)).cost.toFixed(1));
  line('recorder, an event of any actor', (cost / eventsPerEntry).toFixed(1));
  line('recorder, as a share of the charts', (cost / off).toFixed(2));
  return off;
}

/** Writes a log of about `count` entries to a file. */
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

/** Entries per second of processor time and of real time; returns both medians. */
function speed(label, entries, work) {
  const rounds = Array.from({ length: WARM_UP_ROUNDS + READ_ROUNDS }, () => {
    const before = process.cpuUsage();
    const begun = performance.now();
    work();
    const seconds = (performance.now() - begun) / 1_000;
    const { user, system } = process.cpuUsage(before);
    return { processor: (entries.length / (user + system)) * 1e6, clock: entries.length / seconds };
  }).slice(WARM_UP_ROUNDS);
  const processor = rounds.map((round) => round.processor);
  const clock = rounds.map((round) => round.clock);
  line(label, count(median(processor)));
  line(`${label}, best`, count(Math.max(...processor)));
  line(`${label}, by the clock`, count(median(clock)));
  line(`${label}, by the clock, best`, count(Math.max(...clock)));
  return { processor: median(processor), clock: median(clock) };
}

function replaying(bytes, charts, eventsPerEntry) {
  const { header, entries } = read(bytes);
  const causes = entries.filter(({ entry }) => entry.kind !== 'note' && entry.kind !== 'snapshot');
  const deliveries = causes.reduce((sum, { entry }) => sum + 1 + (entry.derived?.length ?? 0), 0);
  console.log(
    `Replaying, entries a second of processor time (median of ${READ_ROUNDS} rounds, ${count(entries.length)} entries`,
  );
  console.log(
    `  with ${(deliveries / causes.length).toFixed(2)} events of machines each, ${eventsPerEntry.toFixed(2)} of any actor)`,
  );
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
  line('re-run of the actors, events of any actor', count(rerunning.processor * eventsPerEntry));
  line('re-run of the actors, events of any actor, by the clock', count(rerunning.clock * eventsPerEntry));
  line('an entry of it, as a share of the charts', (1e6 / rerunning.processor / charts).toFixed(2));
  speed('both, compared with each other and the log', entries, () => {
    const replayer = new Replayer(header);
    for (const { entry, text } of entries) replayer.take(entry, bodyIn(text, entry));
    replayer.end();
    if (replayer.divergenceCount > 0) throw new Error(replayer.divergences[0].message);
  });
}

function looking(bytes) {
  const begun = performance.now();
  const log = openBytes(bytes);
  const opened = performance.now() - begun;
  const megabytes = (bytes.length / 1e6).toFixed(0);
  console.log(`Opening a log of ${count(log.last)} entries (${megabytes} MB)`);
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
  line('seek, ms (median of 100)', median(seeks).toFixed(1));
  line('seek, ms (longest)', Math.max(...seeks).toFixed(1));
}

const eventsPerEntry = await eventsOfActors(SHORT);
const charts = await recording(eventsPerEntry);
const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'));
try {
  await write(SOME, join(folder, 'some.jsonl'));
  replaying(readFileSync(join(folder, 'some.jsonl')), charts, eventsPerEntry);
  await write(MANY, join(folder, 'many.jsonl'));
  looking(readFileSync(join(folder, 'many.jsonl')));
} finally {
  rmSync(folder, { recursive: true });
}
