/** Runs the host of a case as a process, and ends it: when it is done, when the case wants it dead, or when it hangs. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const HOST = fileURLToPath(new URL('host.mjs', import.meta.url));
const SPARE_MS = 90_000;
const EXIT_MS = 3_000;
const LAST_WORDS = 4_000;

/**
 * Resolves with what the host saw (null where it never told), everything it printed, and why it did not finish where
 * it did not. `job.kase` has its placeholders filled.
 */
export async function runHost(job, { folder, env }) {
  const child = fork(HOST, [], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  // The last message may be read after the exit was noticed, but never after the disconnect.
  const over = Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  let printed = '';
  const hear = (chunk) => {
    printed += chunk;
  };
  child.stdout.setEncoding('utf8').on('data', hear);
  child.stderr.setEncoding('utf8').on('data', hear);

  const outcome = { seen: null, diedAt: null, unfinished: null };
  let place = 'starting';
  child.on('message', ({ type, text, signal, seen }) => {
    if (type === 'step') place = text;
    else outcome.seen = seen;
    if (type !== 'kill') return;
    outcome.diedAt = Date.now();
    child.kill(signal);
  });
  const limitMs = limitOf(job.kase);
  const watchdog = setTimeout(() => {
    outcome.unfinished = `the host did not finish ${place} within ${limitMs} ms`;
    child.kill('SIGKILL');
  }, limitMs);
  child.on('disconnect', () => setTimeout(() => child.kill('SIGKILL'), EXIT_MS).unref());

  child.send(job);
  const [[code, signal]] = await over;
  clearTimeout(watchdog);
  if (outcome.seen === null) {
    const ended = signal === null ? `code ${code}` : `signal ${signal}`;
    outcome.unfinished ??= `the host died in ${place} (${ended}): ${printed.slice(-LAST_WORDS)}`;
  }
  return { ...outcome, printed };
}

/** What the steps may take together, and something to spare. */
function limitOf({ steps }) {
  const given = steps.map(
    ({ timeoutMs = 0, ms = 0, count = 0, everyMs = 0 }) => timeoutMs + ms + count * everyMs,
  );
  return given.reduce((sum, ms) => sum + ms, SPARE_MS);
}
