/**
 * Takes one measurement: a new process with a clean environment and a time limit, which leaves nothing behind.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clientFile } from './contenders.mjs';
import { isNoisy, watchLoad } from './noise.mjs';
import { hasVariable, processTable } from './process-table.mjs';
import { endAll } from './processes.mjs';
import { RunProcesses } from './run-processes.mjs';

const FILE = fileURLToPath(new URL('./measure.mjs', import.meta.url));
const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const ERROR_LENGTH = 500;
const PIPE_END_MS = 1_000;
/** Frequent enough to sample every server before it ends, rare enough not to disturb the run. */
const LOOK_EVERY_MS = 500;

/**
 * A variable such as `NODE_EXTRA_CA_CERTS` delays the start of every Node process by about 60 ms, so only these are passed
 * on. The home is an empty folder, so that no files of the user are read or changed and no peer sends telemetry. It also
 * marks the processes of the run, because every client passes it on to its servers.
 */
function cleanEnvironment(home, dist) {
  return {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    HOME: home,
    TMPDIR: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_CACHE_HOME: join(home, 'cache'),
    TROUPE_CACHE: join(home, 'tools'),
    TROUPE_BENCH_DIST: dist,
    MCP_USE_ANONYMIZED_TELEMETRY: 'false',
    MASTRA_TELEMETRY_DISABLED: '1',
    OPENAI_AGENTS_DISABLE_TRACING: '1',
  };
}

/**
 * @param {object} job `scenario`, `name` of the contender, `params`, `dist`, `limitMs`, `profile` (a folder,
 *   or undefined), `noise` (cores above which a run is noisy)
 * @returns the run: `values` or `error`, `tookMs`, `otherLoad`, `isNoisy`, `left` (the number of
 *   processes that had to be killed)
 */
export async function take({ scenario, name, params, dist, limitMs = 60_000, profile, noise }) {
  const home = mkdtempSync(join(tmpdir(), 'troupe-bench-'));
  const mark = `bench-${randomUUID()}`;
  const processes = new RunProcesses(process.pid, (pid) => hasVariable(pid, 'HOME', home));
  const load = watchLoad(processes);
  const looking = setInterval(() => processes.take(processTable()), LOOK_EVERY_MS);
  const begun = performance.now();
  try {
    const client = name === undefined ? undefined : clientFile(name);
    const job = {
      scenario,
      name,
      client,
      params,
      dist,
      mark,
      begunAt: performance.timeOrigin + performance.now(),
    };
    const answer = await run(job, { home, limitMs, profile });
    const otherLoad = load();
    const left = processes.alive;
    endAll(left);
    return {
      ...answer,
      tookMs: performance.now() - begun,
      ...(answer.error === undefined ? {} : { error: inShort(answer.error) }),
      otherLoad,
      isNoisy: isNoisy(otherLoad, noise),
      ...(left.length > 0 ? { left: left.length } : {}),
    };
  } finally {
    clearInterval(looking);
    rmSync(home, { recursive: true, force: true });
  }
}

/** The error without paths of this machine. */
function inShort(error) {
  const line = error.split('\n').find((text) => text.trim() !== '') ?? error;
  return line.replaceAll(PROJECT, '').replaceAll(tmpdir(), 'TMP').slice(0, ERROR_LENGTH);
}

function run(job, { home, limitMs, profile }) {
  const flags = ['--expose-gc'];
  if (profile !== undefined) {
    mkdirSync(profile, { recursive: true });
    flags.push(
      '--cpu-prof',
      `--cpu-prof-dir=${profile}`,
      `--cpu-prof-name=${job.scenario}-${job.name}-${Date.now()}.cpuprofile`,
    );
  }
  const child = spawn(process.execPath, [...flags, FILE, JSON.stringify(job)], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: cleanEnvironment(home, job.dist),
    detached: true,
  });
  let answered = '';
  let complaints = '';
  child.stdio[3].setEncoding('utf8').on('data', (text) => (answered += text));
  child.stderr
    .setEncoding('utf8')
    .on('data', (text) => (complaints = (complaints + text).slice(-ERROR_LENGTH)));
  return new Promise((resolve) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      if (child.pid !== undefined) endAll([-child.pid]);
    }, limitMs);
    child.once('error', (error) => resolve({ error: error.message }));
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      const finish = () => {
        if (isLate && answered === '') resolve({ error: `not done within ${limitMs / 1_000} s` });
        else resolve(answerIn(answered) ?? { error: `ended (${signal ?? code}): ${complaints.trim()}` });
      };
      // A server that outlives its client may keep the pipe open.
      if (child.stdio[3].readableEnded) return finish();
      const waiting = setTimeout(finish, PIPE_END_MS);
      child.stdio[3].once('end', () => {
        clearTimeout(waiting);
        finish();
      });
    });
  });
}

/** Only the first line of the answer counts. */
function answerIn(answered) {
  try {
    return JSON.parse(answered.slice(0, answered.indexOf('\n')));
  } catch {
    return undefined;
  }
}
