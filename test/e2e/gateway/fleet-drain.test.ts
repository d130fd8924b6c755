/**
 * A deploy under load: replicas in processes of their own, over a real Redis, behind a plain proxy. Real clients call all the
 * time while every replica is replaced. Takes several seconds, because six processes start.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.js';
import { describeEngine, EngineServer } from '../../support/engine-servers.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { startRoundRobin } from '../../support/round-robin.mjs';

// The connection pools of clients close idle sockets after some seconds.
useLeakCheck({ settleMs: 10_000 });

const KEY = randomBytes(32).toString('base64');
const REPLICA = fileURLToPath(new URL('fleet-replica.mjs', import.meta.url));
const SERVER = fileURLToPath(new URL('../../support/quick-server.mjs', import.meta.url));

interface Process {
  readonly host: string;
  readonly port: number;
  /** As an orchestrator: SIGTERM, and wait. Returns the exit code. */
  stop(): Promise<number | null>;
}

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function start(redis: string): Promise<Process> {
  const port = await freePort();
  const child = fork(REPLICA, [JSON.stringify({ redis, port, server: SERVER })], {
    env: { ...process.env, TROUPE_FLEET_KEY: KEY },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  ends.push(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const [{ host }] = (await once(child, 'message')) as [{ host: string }];
  return { host, port, stop: () => stop(child, ended) };
}

async function stop(child: ChildProcess, ended: Promise<[number | null]>): Promise<number | null> {
  child.kill('SIGTERM');
  const [code] = await ended;
  return code;
}

/** Calls all the time, several at once, until it is stopped. */
function load(call: (message: string) => Promise<unknown>) {
  const failed: string[] = [];
  const run = { count: 0, isOver: false };
  /** Called after each call. */
  let settled = (): void => {};
  const one = async (worker: number): Promise<void> => {
    while (!run.isOver) {
      const message = `${worker}-${(run.count += 1)}`;
      const answer = await call(message).catch((error: unknown) => String(error));
      const isRight = JSON.stringify(answer).includes(`Echo: ${message}`);
      if (!isRight) failed.push(JSON.stringify(answer));
      settled();
      if (!isRight) return;
    }
  };
  const work = Promise.all([1, 2, 3, 4].map(one));
  ends.push(async () => {
    run.isOver = true;
  });
  return {
    failed,
    /** Resolves after some more calls, or at the first that fails. */
    more: async () => {
      const until = run.count + 50;
      await new Promise<void>((resolve) => {
        settled = () => {
          if (run.count >= until || failed.length > 0) resolve();
        };
        settled();
      });
    },
    end: async () => {
      run.isOver = true;
      await work;
    },
  };
}

describeEngine('redis', 'replicas of a gateway', () => {
  it('are replaced one after the other without a failed call', { timeout: 120_000 }, async () => {
    const engine = await EngineServer.start('redis');
    ends.push(() => engine.remove());
    const redis = `redis://${engine.host}`;
    const front = await startRoundRobin('mcp.example.com');
    ends.push(() => front.close());
    let replicas: readonly Process[] = await Promise.all([start(redis), start(redis)]);
    front.ports = replicas.map(({ port }) => port);

    const old = new OldClient({ name: 'old', version: '1' });
    const transport = new OldHttp(front.url);
    await old.connect(transport);
    const changes: string[] = [];
    old.fallbackNotificationHandler = async ({ method }) => void changes.push(method);
    const neu = new NewClient(
      { name: 'new', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    await neu.connect(new NewHttp(front.url));
    ends.push(() => Promise.all([old.close(), neu.close()]));

    const loads = [
      load((message) => old.callTool({ name: 'mcp__quick__echo', arguments: { message } })),
      load((message) => neu.callTool({ name: 'mcp__quick__echo', arguments: { message } })),
    ];
    const session = transport.sessionId ?? '';
    const first = replicas.find(({ host }) => session.startsWith(`${host}.`));
    expect(first).toBeDefined();
    // The host of the session goes first, then the one that took it.
    for (let round = 0; round < 2; round += 1) {
      await Promise.all(loads.map((each) => each.more()));
      const leaving = round === 0 ? first : replicas[0];
      if (leaving === undefined) throw new Error('no replica');
      const next = await start(redis);
      replicas = [...replicas.filter((replica) => replica !== leaving), next];
      // As an orchestrator does: new connections go elsewhere before the process ends.
      front.ports = replicas.map(({ port }) => port);
      expect(await leaving.stop()).toBe(0);
    }
    await Promise.all(loads.map((each) => each.more()));
    await Promise.all(loads.map((each) => each.end()));
    expect(loads.map(({ failed }) => failed)).toEqual([[], []]);
    expect(transport.sessionId).toBe(session);
    // The stream of the session has moved, too.
    await expect.poll(() => changes).toContain('notifications/tools/list_changed');
  });
});
