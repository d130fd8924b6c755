/** Controls the process of the HTTP servers: starts and kills it and sends it orders. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const HOST = fileURLToPath(new URL('servers/http-host.mjs', import.meta.url));
const START_LIMIT_MS = 15_000;

export class HttpHost {
  /** Number of unexpected ends. */
  deaths = 0;
  #journal;
  #names;
  #ports;
  #child;
  #starting;
  #isListening = false;
  #lastOrder = 0;
  /** Order → callback for when it is done or impossible. */
  #pending = new Map();

  constructor(journal, names) {
    this.#journal = journal;
    this.#names = names;
  }

  get pid() {
    return this.#child?.pid ?? null;
  }

  /** The address of a server; undefined for other servers. */
  url(name) {
    const index = this.#names.indexOf(name);
    return index === -1 ? undefined : `http://127.0.0.1:${this.#ports[index]}/mcp`;
  }

  /** Starts the servers in a working state without sessions, on the same ports as before. */
  start() {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  /** Resolves when the order is done. It has no effect if the process is missing or still starting. */
  async order(name, order, details = {}) {
    const child = this.#child;
    if (!this.#isListening || !child.connected) return;
    const number = (this.#lastOrder += 1);
    await new Promise((resolve) => {
      this.#pending.set(number, resolve);
      child.send({ number, order, name, ...details }, (error) => error && this.#done(number));
    });
  }

  /** Waits for a starting process first. */
  async kill() {
    await this.#starting;
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    this.#starting = undefined;
    this.#isListening = false;
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
  }

  async #start() {
    const child = fork(HOST, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#child = child;
    child.on('close', () => this.#ended(child));
    child.send({ journal: this.#journal, names: this.#names, ports: this.#ports });
    const [{ ports }] = await once(child, 'message', { signal: AbortSignal.timeout(START_LIMIT_MS) });
    this.#ports = ports;
    child.on('message', ({ number }) => this.#done(number));
    this.#isListening = true;
  }

  #ended(child) {
    for (const number of this.#pending.keys()) this.#done(number);
    if (this.#child !== child) return;
    this.deaths += 1;
    this.#child = undefined;
    this.#starting = undefined;
    this.#isListening = false;
  }

  #done(number) {
    this.#pending.get(number)?.();
    this.#pending.delete(number);
  }
}
