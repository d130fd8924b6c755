/** Two host processes with several connections to one server that is down: how many retries the server sees. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { describeEngine, EngineServer } from '../support/engine-servers.js';
import { useLeakCheck } from '../support/leak-check.js';
import { inTime } from '../support/time-limit.js';

const HOST = fileURLToPath(new URL('retrying-host.mjs', import.meta.url));
const CONNECTIONS = 8;
const BURST = 4;
const LIMIT_MS = 60_000;

/**
 * A server that refuses everything, and the times at which it saw a retry: any attempt of a connection but its first. An attempt
 * asks for the new era first; only its `initialize` counts, which names no version in a header.
 */
class DownServer {
  readonly retries: number[] = [];
  readonly #seen = new Set<unknown>();
  readonly #watchers = new Set<() => void>();
  readonly #server: Server = createServer(({ headers }, response) => {
    response.writeHead(503).end();
    if ('mcp-protocol-version' in headers) return;
    const name = headers['x-name'];
    if (this.#seen.has(name)) this.retries.push(performance.now());
    this.#seen.add(name);
    for (const look of this.#watchers) look();
  });

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async sees(retries: number): Promise<void> {
    const seen = new Promise<void>((resolve) => {
      const look = (): void => void (this.retries.length >= retries && resolve());
      this.#watchers.add(look);
      look();
    });
    await inTime(seen, LIMIT_MS, () => new Error(`The server saw ${this.retries.length} retries.`));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

describeEngine('redis', 'two hosts that lose one server', () => {
  useLeakCheck();
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  async function begin(everyMs: number, engine?: string): Promise<DownServer> {
    const server = new DownServer();
    closing.push(() => server.close());
    const origin = await server.listen();
    for (const label of ['a', 'b']) {
      const retryBudget = { burst: BURST, everyMs };
      const terms = { label, origin, connections: CONNECTIONS, retryBudget, engine };
      const child: ChildProcess = fork(HOST, [JSON.stringify(terms)], { stdio: 'inherit' });
      closing.push(async () => {
        const gone = once(child, 'exit');
        if (child.exitCode === null && child.kill('SIGKILL')) await gone;
      });
    }
    return server;
  }

  it('retry twice as often without a fleet.', { timeout: LIMIT_MS }, async () => {
    const server = await begin(600_000);
    await server.sees(2 * BURST);
    expect(server.retries).toHaveLength(2 * BURST);
  });

  it('share one budget in a fleet, and go on when its engine is lost.', { timeout: LIMIT_MS }, async () => {
    const everyMs = 200;
    const engine = await EngineServer.start('redis');
    closing.push(() => engine.remove());
    const server = await begin(everyMs, `redis://${engine.host}`);
    const retries = 4 * BURST;
    await server.sees(retries);
    const { 0: first = 0, [retries - 1]: last = 0 } = server.retries;
    // Twice as long as two hosts take that share nothing. A request may be on its way for a while.
    expect(last - first).toBeGreaterThan((retries - 2 * BURST) * everyMs);

    await engine.kill();
    const before = server.retries.length;
    await server.sees(before + 2 * BURST);
    expect(server.retries.length).toBeGreaterThan(before);
  });
});
