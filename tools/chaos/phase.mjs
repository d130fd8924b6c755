/**
 * One complete phase of chaos: creates servers and a troupe, disturbs them, lets them recover, closes and judges them.
 * Afterwards, only its figures and faults are kept.
 */
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createTroupe } from 'mcp-troupe';
import { countingClock } from './counting-clock.mjs';
import { disturb } from './disturb.mjs';
import { EventLog } from './event-log.mjs';
import { Fleet } from './fleet.mjs';
import { Ledger } from './ledger.mjs';
import { startProgress } from './progress.mjs';
import { recover } from './recovery.mjs';
import { within } from './within.mjs';

const START_GATE_MS = 60_000;
const CLOSE_LIMIT_MS = 20_000;
const HEAL_LIMIT_MS = 60_000;
const NANOSECONDS_PER_MS = 1e6;

/** Seconds instead of the minutes of a real host. */
const POLICY = {
  launchTimeoutMs: 10_000,
  handshakeTimeoutMs: 4_000,
  listTimeoutMs: 4_000,
  maxAttempts: 8,
  backoff: { kind: 'exponential', firstMs: 100, factor: 2, maxMs: 2_000 },
  intensity: { restarts: 5, periodMs: 10_000 },
  stableMs: 5_000,
  immediateRetryWindowMs: 5_000,
  ping: { idleMs: 3_000, timeoutMs: 1_000 },
  listChanged: { debounceMs: 100, maxWaitMs: 500 },
  stop: { drainMs: 300, deleteMs: 500, stdinEndMs: 500, termMs: 500 },
};

export async function playPhase({ name, connections, durationMs, seed, logFile, report, signal, folder }) {
  const fleet = await Fleet.open(connections, mkdtempSync(join(folder, `${name}-`)));
  const clock = countingClock();
  const servers = fleet.entries;
  const troupe = createTroupe({
    servers,
    policy: POLICY,
    startGateMs: START_GATE_MS,
    cache: false,
    clock,
    seed,
  });
  const log = new EventLog(logFile, { phase: name, seed, connections, durationMs, node: process.version });
  const ledger = new Ledger();
  log.follow(troupe);
  const stopProgress = startProgress(report, { name, troupe, ledger, log });
  const delay = monitorEventLoopDelay();
  const figures = {};
  const faults = [];
  delay.enable();
  try {
    await troupe.start({ signal });
    faults.push(
      ...(await disturb({ troupe, fleet, ledger, log }, { connections, durationMs, seed, signal })),
    );
    await within(HEAL_LIMIT_MS, 'healing the servers', fleet.heal());
    const recovery = await recover({ troupe, fleet, ledger }, signal);
    faults.push(...recovery.faults);
    Object.assign(figures, { 'at the end': recovery.counts, 'gave up because of': recovery.reasons });
  } catch (error) {
    faults.push(error.stack);
  } finally {
    stopProgress();
    const ended = await end({ troupe, fleet, log, clock });
    faults.push(...ended.faults);
    figures.close = { ms: ended.ms };
    delay.disable();
  }
  const journal = readJournal(fleet.journal);
  faults.push(...ledger.judge(journal, log.outcomes), ...log.faults);
  Object.assign(figures, {
    calls: { all: ledger.size, ...ledger.counts, 'side effects': journal.length },
    events: log.counts,
    'failed because of': log.failures,
    'event loop delay': {
      'p99 (ms)': Math.round(delay.percentile(99) / NANOSECONDS_PER_MS),
      'max (ms)': Math.round(delay.max / NANOSECONDS_PER_MS),
    },
  });
  return { figures, faults };
}

/** Closes everything. Returns the duration of closing the troupe, and the faults. */
async function end({ troupe, fleet, log, clock }) {
  const faults = [];
  const startedAt = performance.now();
  try {
    await within(CLOSE_LIMIT_MS, 'closing the troupe', troupe.close());
  } catch (error) {
    faults.push(error.stack);
  }
  const ms = Math.round(performance.now() - startedAt);
  if (clock.running > 0) faults.push(`${clock.running} timers were left running`);
  faults.push(...fleet.faults);
  await fleet.close();
  await log.end();
  return { faults, ms };
}

/** The journal of the servers: side effects in order. */
function readJournal(file) {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
