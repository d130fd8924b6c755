/** The HTTP server of a case: a process of the kit whose first line of output is its address. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

const START_LIMIT_MS = 15_000;
/** A stuck server must not block its case. */
const ANSWER_LIMIT_MS = 10_000;
const LAST_WORDS = 2_000;

/** Rejects if the command prints no address. The caller stops it. */
export async function startHttpServer({ command, args = [], env, cwd = '.' }, folder, signal) {
  const child = spawn(command, args, {
    cwd: resolve(folder, cwd),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const ended = once(child, 'exit').catch(() => {});
  const stop = async () => {
    endGroup(child.pid);
    await ended;
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
  };
  try {
    const { url, control } = addressIn(await firstLine(child, signal));
    return { url, control, pid: child.pid, stop, requests: () => requestsSeen(control) };
  } catch (error) {
    await stop();
    throw new Error(`the HTTP server did not start: ${error.message}`, { cause: error });
  }
}

/** A command may be a wrapper of the server; all of its processes form one group. */
function endGroup(pid) {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has already ended.
  }
}

function addressIn(line) {
  const problem = `its first line is not an address: ${line.slice(0, 200)}`;
  try {
    const { url, control } = JSON.parse(line);
    if (URL.canParse(url)) return { url, control };
  } catch {
    // Reported below.
  }
  throw new Error(problem);
}

/** Keeps reading after that line, so that a full pipe does not block the server. */
async function firstLine(child, signal) {
  let lastWords = '';
  child.stderr.on('data', (chunk) => {
    lastWords = `${lastWords}${chunk}`.slice(-LAST_WORDS);
  });
  let giveUp;
  let limit;
  try {
    return await new Promise((resolve, reject) => {
      giveUp = () => reject(new Error('the run was interrupted'));
      signal?.addEventListener('abort', giveUp, { once: true });
      limit = setTimeout(
        () => reject(new Error(`it printed no address within ${START_LIMIT_MS} ms`)),
        START_LIMIT_MS,
      );
      createInterface(child.stdout).on('line', resolve);
      child.on('error', reject);
      child.on('close', () => reject(new Error(`it ended: ${lastWords}`)));
    });
  } finally {
    clearTimeout(limit);
    signal?.removeEventListener('abort', giveUp);
  }
}

async function requestsSeen(control) {
  try {
    const response = await fetch(`${control}seen`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    });
    return await response.json();
  } catch (error) {
    throw new Error(`the HTTP server does not report its requests: ${error.message}`, { cause: error });
  }
}
