/**
 * Real engines for the tests: each on a free port of this machine with a folder of its own, ended by its pid. Needs
 * `redis-server` and `nats-server`; a suite that lacks its own is left out (`tools/optional-programs.mjs`).
 */
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { createClient } from '@redis/client';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { freePort } from './free-port.js';
import { createNatsEngine } from '../../src/adapters/fleet-nats.js';
import { createRedisEngine } from '../../src/adapters/fleet-redis.js';
import type { FleetEngine } from '../../src/fleet/engine.js';
import { programPath } from './left-out.js';

export type EngineKind = 'redis' | 'nats';

/** A suite that needs a real engine; left out if its server is not installed. */
export function describeEngine(kind: EngineKind, what: string, suite: () => void): void {
  describe.skipIf(programPath(`${kind}-server`) === undefined)(`${kind}: ${what}`, suite);
}

/** A line with which the server says that it listens. */
const READY: Readonly<Record<EngineKind, RegExp>> = { redis: /Ready to accept/, nats: /Server is ready/ };

/** A server that can be frozen, killed, wiped and started again on its port. */
export class EngineServer {
  readonly #kind: EngineKind;
  readonly #port: number;
  readonly #password: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'troupe-engine-'));
  #child: ChildProcess | undefined;

  private constructor(kind: EngineKind, port: number, password: string) {
    this.#kind = kind;
    this.#port = port;
    this.#password = password;
  }

  static async start(kind: EngineKind, password = ''): Promise<EngineServer> {
    const server = new EngineServer(kind, await freePort(), password);
    await server.start();
    return server;
  }

  get host(): string {
    return `127.0.0.1:${this.#port}`;
  }

  connect({ password = this.#password, timeoutMs = 1_000, namespace = 'tests' } = {}): FleetEngine {
    const isRedis = this.#kind === 'redis';
    const who = password === '' ? '' : `${isRedis ? 'default' : 'troupe'}:${password}@`;
    const options = { address: `${isRedis ? 'redis' : 'nats'}://${who}${this.host}`, timeoutMs, namespace };
    return isRedis ? createRedisEngine(options) : createNatsEngine(options);
  }

  async start(): Promise<void> {
    const program = programPath(`${this.#kind}-server`) ?? '';
    const child = spawn(program, this.#arguments(), { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    let text = '';
    await new Promise<void>((resolve, reject) => {
      const read = (part: Buffer): void => {
        text += part.toString();
        if (READY[this.#kind].test(text)) resolve();
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('error', reject);
      child.once('exit', () => reject(new Error(text)));
    });
  }

  #arguments(): readonly string[] {
    const [port, password, folder] = [String(this.#port), this.#password, this.#folder];
    if (this.#kind === 'redis') {
      const own = [
        '--port',
        port,
        '--bind',
        '127.0.0.1',
        '--dir',
        folder,
        '--save',
        '',
        '--appendonly',
        'yes',
      ];
      return password === '' ? own : [...own, '--requirepass', password];
    }
    const file = `${folder}.conf`;
    const who = password === '' ? '' : `authorization { user: troupe, password: "${password}" }\n`;
    writeFileSync(file, `listen: "127.0.0.1:${port}"\n${who}jetstream { store_dir: "${folder}" }\n`);
    return ['-c', file];
  }

  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  /** Everything that it knew is lost. */
  async wipe(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true });
    mkdirSync(this.#folder);
    await this.start();
  }

  /** What hosts have put is lost while their links stay. */
  async loseEntries(): Promise<void> {
    if (this.#kind === 'redis') {
      await this.command('FLUSHALL');
      return;
    }
    const other = await connect({ servers: this.host });
    await (await jetstreamManager(other)).streams.delete('KV_tests');
    await other.close();
  }

  /** Redis only. */
  async command(...words: readonly string[]): Promise<unknown> {
    const client = createClient({ url: `redis://${this.host}` });
    await client.connect();
    const answer = await client.sendCommand([...words]);
    client.destroy();
    return answer;
  }

  async remove(): Promise<void> {
    await this.kill();
    for (const path of [this.#folder, `${this.#folder}.conf`]) rmSync(path, { recursive: true, force: true });
  }
}
