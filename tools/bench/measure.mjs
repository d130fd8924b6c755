/**
 * One measurement in its own process: `node --expose-gc measure.mjs JOB`; the job is JSON. The figures or the error go
 * to file descriptor 3 as JSON, because libraries may write to the others.
 */
import { pathToFileURL } from 'node:url';
import { writeSync } from 'node:fs';
import { untilChildless } from './processes.mjs';

const CHILDREN_END_MS = 3_000;

const job = JSON.parse(process.argv[2]);
const send = (answer) => writeSync(3, `${JSON.stringify(answer)}\n`);

/** Milliseconds since the start of this process. */
const sinceStart = () => performance.timeOrigin + performance.now() - job.begunAt;

// An unhandled error of a peer ends the measurement, but keeps figures that were already sent.
process.on('uncaughtException', (error) => {
  send({ error: error.message });
  process.exit(1);
});
process.on('unhandledRejection', () => {});

try {
  const { measure } = await import(`./scenarios/${job.scenario}.mjs`);
  const own = job.client === undefined ? undefined : await import(pathToFileURL(job.client));
  const client = own && { ...own, name: job.name, load: (kind) => own.load(kind, job.dist) };
  const { params, mark, dist } = job;
  send({ values: await measure({ client, params, mark, dist, sinceStart }) });
} catch (error) {
  send({ error: String(error?.message ?? error) });
}
await untilChildless(CHILDREN_END_MS);
process.exit(0);
