/**
 * Runs one case from start to verdict: its HTTP server, its journal and its host, then the checks on their reports.
 *
 * R1. Nothing of a case is left when its promise settles, whatever failed.
 * R2. It passes only if every step was possible, the host survived and no check found a difference.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { checkAll, ORPHANS_GONE_MS, secretsIn } from './checks.mjs';
import { short } from './difference.mjs';
import { HostProcess } from './host-process.mjs';
import { startHttpServer } from './http-server.mjs';
import { pidsOf, readJournal } from './journal.mjs';
import { fill } from './placeholders.mjs';
import { killAll, watchEnds } from './processes.mjs';

/**
 * The verdict on one case of `readCaseFile`: `{ id, kind, passed, differences, ms }`. Never rejects; the signal ends
 * the case early.
 */
export async function runCase(kase, folder, signal) {
  const startedAt = Date.now();
  const { id, kind, problems } = kase;
  const differences = problems.length > 0 ? problems : await differencesOf(kase, folder, signal);
  return { id, kind, passed: differences.length === 0, differences, ms: Date.now() - startedAt };
}

async function differencesOf(kase, folder, signal) {
  try {
    return await drive(kase, folder, signal);
  } catch (error) {
    return [`the case could not be run: ${error.message}`];
  }
}

async function drive(kase, folder, signal) {
  const scratch = await mkdtemp(join(tmpdir(), 'troupe-fault-'));
  const files = { journal: join(scratch, 'journal.jsonl'), state: join(scratch, 'state') };
  const pids = new Set();
  let server;
  let host;
  try {
    signal?.throwIfAborted();
    if (kase.server !== undefined) server = await startHttpServer(fill(kase.server, files), folder, signal);
    const values = { ...files, ...(server && { url: server.url }) };
    const { start, client, steps, checks } = fill(kase, values);
    const job = {
      ...{ kase: { start, client, steps }, url: server?.url, control: server?.control },
      ...{ folder, scratch, values, secrets: secretsIn(checks) },
    };
    host = new HostProcess(job, { folder, env: start.via === 'config' ? start.env : {}, signal });
    const outcome = await host.outcome;
    if (outcome.diedAt !== null) await pause(waitsAfterDeath(steps));

    const { seen, diedAt } = outcome;
    const known = notThe(server, [...host.pids, ...pidsOf(readJournal(files.journal))]);
    for (const pid of known) pids.add(pid);
    const goneAt = diedAt ?? seen?.stoppedAt ?? Date.now();
    const limitMs = seen === null ? 0 : longestEndMs(checks);
    const ends = await watchEnds(known, goneAt, limitMs);

    await host.over;
    const journal = readJournal(files.journal);
    // Processes that started after the end of the case.
    const late = notThe(server, pidsOf(journal)).filter((pid) => !pids.has(pid));
    for (const pid of late) pids.add(pid);
    const unfinished = outcome.unfinished === null ? [] : [outcome.unfinished];
    const fatal = [...(seen?.problems ?? []), ...(seen?.crashes ?? []), ...unfinished];
    if (fatal.length > 0) return fatal.map(short);
    return checkAll(checks, {
      ...seen,
      printed: host.printed,
      journal: seen.isJournaled || journal.length > 0 || isJournaled(kase) ? journal : null,
      requests: (await server?.requests()) ?? null,
      ends: [...ends, ...(await watchEnds(late, goneAt, limitMs))],
      endedAt: diedAt ?? seen.endedAt ?? goneAt,
    });
  } finally {
    await host?.over;
    killAll(new Set([...pids, ...(host?.pids ?? [])]));
    await server?.stop();
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Without the HTTP server of the case, which the client did not start. */
function notThe(server, pids) {
  return [...new Set(pids)].filter((pid) => pid !== server?.pid);
}

/** The longest time that a check allows processes to end. */
function longestEndMs({ noOrphans, orphansGoneWithinMs, anyOf = [] }) {
  const own = orphansGoneWithinMs ?? (noOrphans ? ORPHANS_GONE_MS : 0);
  return Math.max(own, ...anyOf.map(longestEndMs));
}

/** The sum of the waits after the death of the host; no other steps can follow it. */
function waitsAfterDeath(steps) {
  const death = steps.findIndex((step) => step.do === 'kill-host');
  return steps.slice(death + 1).reduce((sum, { ms }) => sum + ms, 0);
}

/** Whether a server of the case gets the path of its journal. */
function isJournaled({ start, server, client, steps }) {
  return JSON.stringify([start, server, client, steps]).includes('{{journal}}');
}
