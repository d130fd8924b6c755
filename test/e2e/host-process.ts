/**
 * Hosts in separate processes, and the processes that they have started.
 *
 * All processes of a host inherit an environment variable. It identifies them even if they have left their group and
 * lost their parent. Zombies do not count.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import type { StdioServerConfig } from '../../src/index.js';
import { readProcesses } from '../../src/transports/stdio/process-table.js';
import { WAIT_LIMIT_MS } from '../support/time-limit.js';

const HOST = fileURLToPath(new URL('mortal-host.mjs', import.meta.url));
/** The servers inherit it because of its prefix. */
const VARIABLE = 'LC_TROUPE_HOST_OF_A_TEST';

export interface Action {
  readonly action: 'add' | 'close' | 'exit' | 'throw' | 'reject';
  readonly name?: string;
  readonly config?: StdioServerConfig;
}

export class HostProcess {
  stderr = '';
  readonly #child: ChildProcess;
  readonly #label: string;
  readonly #ended: Promise<readonly [code: number | null, signal: NodeJS.Signals | null]>;

  constructor(servers: Readonly<Record<string, StdioServerConfig>>, number: number) {
    this.#label = `${process.pid}-${number}-${Date.now()}`;
    this.#child = fork(HOST, [JSON.stringify(servers)], {
      env: { ...process.env, [VARIABLE]: this.#label },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.#ended = once(this.#child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Resolves with the names of the servers that the host next reports as ready. */
  async ready(): Promise<string[]> {
    const [{ ready }] = (await this.#within(once(this.#child, 'message'))) as [{ ready: string[] }];
    return ready;
  }

  /** Requests an action. */
  do(action: Action): void {
    this.#child.send(action);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves with its exit code and signal. */
  ended(): Promise<readonly [code: number | null, signal: NodeJS.Signals | null]> {
    return this.#within(this.#ended);
  }

  /** Its living descendants, without its guard. */
  belongings(): number[] {
    return (readProcesses() ?? [])
      .map(({ pid }) => pid)
      .filter((pid) => pid !== this.pid && readProc(pid, 'environ').includes(`${VARIABLE}=${this.#label}\0`));
  }

  guards(): number[] {
    return (readProcesses() ?? [])
      .filter(({ pid, parent }) => parent === this.pid && readProc(pid, 'cmdline').includes('troupe-guard'))
      .map(({ pid }) => pid);
  }

  /** Cleans up after the test, even if the test failed. */
  async end(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGKILL');
    await this.ended();
    for (const pid of this.belongings()) process.kill(pid, 'SIGKILL');
  }

  async #within<T>(wait: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`The host took longer than ${WAIT_LIMIT_MS} ms. ${this.stderr}`)),
        WAIT_LIMIT_MS,
      );
    });
    return Promise.race([wait, limit]).finally(() => clearTimeout(timer));
  }
}

function readProc(pid: number, file: 'environ' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/** Starts hosts with their servers ready, and ends the remaining processes after each test. */
export function useHosts(): (servers: Readonly<Record<string, StdioServerConfig>>) => Promise<HostProcess> {
  const hosts: HostProcess[] = [];
  afterEach(async () => {
    await Promise.all(hosts.splice(0).map((host) => host.end()));
  });
  let number = 0;
  return async (servers) => {
    number += 1;
    const host = new HostProcess(servers, number);
    hosts.push(host);
    const ready = await host.ready();
    if (ready.length < Object.keys(servers).length)
      throw new Error(`Only ready: ${ready.join()}. ${host.stderr}`);
    return host;
  };
}
