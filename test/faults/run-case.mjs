/**
 * One case from start to verdict: its HTTP server, its journal and its host, then the checks on what they saw.
 *
 * R1. Nothing of a case is left when its promise settles, whatever was wrong with it.
 * R2. It passes only where every step could be done, the host survived and no check found a difference.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { checkAll } from './checks.mjs';
import { short } from './difference.mjs';
import { runHost } from './host-process.mjs';
import { startHttpServer } from './http-server.mjs';
import { pidsOf, readJournal } from './journal.mjs';
import { killAll, survivors } from './processes.mjs';

const ORPHANS_GONE_MS = 1_000;

/** The verdict on one case of `readCaseFile`: `{ id, kind, passed, differences, ms }`. Never rejects. */
export async function runCase(kase, folder) {
  const startedAt = Date.now();
  const { id, kind, problems } = kase;
  const differences = problems.length > 0 ? problems : await differencesOf(kase, folder);
  return { id, kind, passed: differences.length === 0, differences, ms: Date.now() - startedAt };
}

async function differencesOf(kase, folder) {
  try {
    return await drive(kase, folder);
  } catch (error) {
    return [`the case could not be run: ${error.message}`];
  }
}

async function drive(kase, folder) {
  const scratch = await mkdtemp(join(tmpdir(), 'troupe-fault-'));
  const files = { journal: join(scratch, 'journal.jsonl'), state: join(scratch, 'state') };
  const pids = [];
  let server;
  try {
    server = await startServerOf(fill(kase.start, files), folder);
    const filled = fill(kase, { ...files, ...(server && { url: server.url }) });
    const env = filled.start.via === 'config' ? filled.start.env : {};
    const job = { kase: filled, url: server?.url, control: server?.control, scratch };
    const { seen, unfinished, printed, diedAt } = await runHost(job, { folder, env });
    if (diedAt !== null) await pause(waitsAfterDeath(kase));
    const journal = readJournal(files.journal);
    pids.push(...pidsOf(journal), ...Object.values(seen?.servers ?? {}).flatMap((one) => one.pids));
    if (seen === null) return [short(unfinished)];

    const endedAt = diedAt ?? seen.stoppedAt ?? Date.now();
    const { orphansGoneWithinMs = ORPHANS_GONE_MS } = kase.checks;
    const orphans = await survivors([...new Set(pids)], endedAt + orphansGoneWithinMs);
    const fatal = [...seen.problems, ...seen.crashes, ...(unfinished === null ? [] : [unfinished])];
    if (fatal.length > 0) return fatal.map(short);
    return checkAll(kase.checks, {
      ...seen,
      printed,
      journal: isJournaled(kase) ? journal : null,
      requests: (await server?.requests()) ?? null,
      orphans,
      endedAt,
    });
  } finally {
    killAll(pids);
    await server?.stop();
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The server a case is about, or the one that an entry of its configuration wants. */
async function startServerOf(start, folder) {
  if (start.via === 'http') return startHttpServer(start, folder);
  if (start.http === undefined) return undefined;
  const args = ['faulty-http.mjs', `--mode=${start.http}`, '--port=0'];
  return startHttpServer({ command: process.execPath, args }, folder);
}

/** Puts values in the place of `{{name}}` in every text; a name without value stays as it is. */
function fill(value, values) {
  if (typeof value === 'string')
    return value.replaceAll(/\{\{(\w+)\}\}/g, (all, name) => values[name] ?? all);
  if (Array.isArray(value)) return value.map((item) => fill(item, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, values)]));
}

function waitsAfterDeath({ steps }) {
  const death = steps.findIndex(({ do: name }) => name === 'kill-host');
  return steps.slice(death + 1).reduce((sum, { ms }) => sum + ms, 0);
}

/** Whether a server of the case is told where its journal is. */
function isJournaled({ start }) {
  return JSON.stringify(start).includes('{{journal}}');
}
