/** The HTTP server of a case: a process of the kit that tells its address in its first line. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const START_LIMIT_MS = 15_000;
const LAST_WORDS = 2_000;

/** Rejects where the command gives no address. The caller stops it. */
export async function startHttpServer({ command, args = [] }, folder) {
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close').catch(() => {});
  const stop = async () => {
    child.kill('SIGKILL');
    await closed;
  };
  try {
    const { url, control } = JSON.parse(await firstLine(child));
    return { url, control, stop, requests: () => requestsSeen(control) };
  } catch (error) {
    await stop();
    throw new Error(`the HTTP server did not start: ${error.message}`, { cause: error });
  }
}

/** Reads on after that line, so that the server is never held up by a full pipe. */
function firstLine(child) {
  let lastWords = '';
  child.stderr.on('data', (chunk) => {
    lastWords = `${lastWords}${chunk}`.slice(-LAST_WORDS);
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('it told no address')), START_LIMIT_MS);
    const fail = (why) => {
      clearTimeout(timer);
      reject(new Error(why));
    };
    createInterface(child.stdout).on('line', (line) => {
      clearTimeout(timer);
      resolve(line);
    });
    child.on('error', (error) => fail(error.message));
    child.on('close', () => fail(`it ended: ${lastWords}`));
  });
}

async function requestsSeen(control) {
  const response = await fetch(`${control}seen`, { headers: { connection: 'close' } });
  return response.json();
}
