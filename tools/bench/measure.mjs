/**
 * One measurement in a process of its own: `node --expose-gc measure.mjs JOB`, where the job is JSON. The figures, or
 * the error, go to file descriptor 3 as JSON, since libraries may write to the others.
 */
import { writeSync } from 'node:fs';
import { untilChildless } from './processes.mjs';

const CHILDREN_END_MS = 3_000;

const job = JSON.parse(process.argv[2]);
const tell = (answer) => writeSync(3, `${JSON.stringify(answer)}\n`);

/** Milliseconds since this process was asked for. */
const sinceStart = () => performance.timeOrigin + performance.now() - job.begunAt;

// An error of a peer that nobody awaits is the end of the measurement and not of the figures it has given already.
process.on('uncaughtException', (error) => {
  tell({ error: error.message });
  process.exit(1);
});
process.on('unhandledRejection', () => {});

try {
  const { measure } = await import(`./scenarios/${job.scenario}.mjs`);
  const own = job.client === undefined ? undefined : await import(job.client);
  const client = own && { ...own, name: job.name, load: (kind) => own.load(kind, job.dist) };
  const { params, mark, dist } = job;
  tell({ values: await measure({ client, params, mark, dist, sinceStart }) });
} catch (error) {
  tell({ error: String(error?.message ?? error) });
}
await untilChildless(CHILDREN_END_MS);
process.exit(0);
