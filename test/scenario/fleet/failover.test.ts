/** Redis with a replica, whose last writes are lost when it takes over: a lease still has one holder. */
import { expect, it, onTestFinished } from 'vitest';
import type { FleetEngine } from '../../../src/fleet/engine.js';
import { describeEngine, EngineServer } from '../../support/engine-servers.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { eventually, held } from './engine-contract.js';

const TTL_MS = 1_000;

interface Side {
  readonly server: EngineServer;
  readonly engine: FleetEngine;
}

async function side(): Promise<Side> {
  const server = await EngineServer.start('redis');
  // A replica gets its first copy at once.
  await server.command('CONFIG', 'SET', 'repl-diskless-sync-delay', '0');
  const engine = server.connect();
  onTestFinished(async () => {
    await engine.close();
    await server.remove();
  });
  return { server, engine };
}

/** Resolves when the replica has the data of its master. */
async function follow(replica: Side, master: Side, meanwhile: () => Promise<unknown> = async () => {}) {
  const [host = '', port = ''] = master.server.host.split(':');
  await replica.server.command('REPLICAOF', host, port);
  await eventually(async () => {
    await meanwhile();
    const state = (await replica.server.command('INFO', 'replication')) as string;
    return state.includes('master_link_status:up') ? true : undefined;
  });
}

/** From now on it takes writes, and hears of none. */
const promote = (replica: Side): Promise<unknown> => replica.server.command('REPLICAOF', 'NO', 'ONE');

/** Resolves when a later renewal ends clearly later. */
async function passSome(): Promise<void> {
  const end = performance.now() + TTL_MS / 3;
  await eventually(() => (performance.now() > end ? true : undefined));
}

describeEngine('redis', 'a replica that takes over', () => {
  useLeakCheck();

  it('gives no lease until those are over that it never heard of', async () => {
    const [first, second] = [await side(), await side()];
    await held(first.engine, 'x', 'early', TTL_MS);
    await follow(second, first);
    await promote(second);
    const lost = await held(first.engine, 'y', 'a', TTL_MS);
    expect(await second.engine.acquire('y', 'b', TTL_MS)).toBeUndefined();
    await first.server.kill();
    const next = await held(second.engine, 'y', 'b', TTL_MS);
    expect(performance.now()).toBeGreaterThanOrEqual(lost.deadline);
    expect(next.token > lost.token).toBe(true);
  });

  it('does so also if it led before, and lost a renewal since', async () => {
    const [first, second] = [await side(), await side()];
    const lease = await held(first.engine, 'x', 'a', TTL_MS);
    const renew = (at: Side): Promise<boolean> => at.engine.renew(lease);
    await follow(second, first, () => renew(first));
    await promote(second);
    expect(await renew(second)).toBe(true);
    await follow(first, second, () => renew(second));
    await promote(first);
    await passSome();
    expect(await renew(second)).toBe(true);
    await second.server.kill();
    const next = await held(first.engine, 'x', 'b', TTL_MS);
    expect(performance.now()).toBeGreaterThanOrEqual(lease.deadline);
    expect(next.token > lease.token).toBe(true);
  });
});
