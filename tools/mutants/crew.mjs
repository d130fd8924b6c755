/** Warm processes that run mutants. A process that hangs is killed, which counts as a catch, and replaced. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const RUNNER = fileURLToPath(new URL('runner.mjs', import.meta.url));
const START_LIMIT_MS = 120_000;
/** The tests of the machines never wait for real time, so a mutant that needs longer than this is in an endless loop. */
const MUTANT_LIMIT_MS = 300_000;

/** Gives every job to a free process, and reports each result. */
export async function runAll(jobs, report, size) {
  const left = [...jobs];
  const work = async () => {
    let runner;
    for (let job = left.shift(); job !== undefined; job = left.shift()) {
      runner ??= await start();
      const result = await ask(runner, job);
      if (result === undefined) {
        runner.kill('SIGKILL');
        runner = undefined;
      }
      report(job, result ?? { id: job.id, caughtBy: 'the time limit', how: `${MUTANT_LIMIT_MS} ms` });
    }
    runner?.disconnect();
  };
  await Promise.all(Array.from({ length: size }, work));
}

async function start() {
  const runner = fork(RUNNER, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  await once(runner, 'message', { signal: AbortSignal.timeout(START_LIMIT_MS) });
  return runner;
}

/** Undefined if the process hangs or has died. */
async function ask(runner, job) {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(MUTANT_LIMIT_MS)]);
  try {
    runner.send(job);
    return await Promise.race([
      once(runner, 'message', { signal }).then(([result]) => result),
      once(runner, 'exit', { signal }).then(() => undefined),
    ]);
  } catch {
    return undefined;
  } finally {
    over.abort();
  }
}
