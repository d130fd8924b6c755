/** A start under the profiler, for `--where start-up`. */
import { Session } from 'node:inspector/promises';
import { byPhase } from '../phases.mjs';
import { stdioServers } from '../servers.mjs';

const SAMPLE_EVERY_US = 250;

export async function measure({ client, params, mark }) {
  const library = await client.load('stdio');
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US });
  await session.post('Profiler.start');
  const before = process.cpuUsage();
  const handle = await client.open(library, stdioServers(params.servers, mark), {
    options: { cache: undefined },
  });
  const { user, system } = process.cpuUsage(before);
  const { profile } = await session.post('Profiler.stop');
  await handle.close();
  const phases = Object.entries(byPhase(profile));
  const sampled = phases.reduce((sum, [, ms]) => sum + ms, 0);
  // On a busy machine a sample lasts longer than its share of the processor.
  const scale = (user + system) / 1_000 / sampled;
  return Object.fromEntries(phases.map(([phase, ms]) => [phase, ms * scale]));
}
