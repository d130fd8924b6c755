/** The process that runs the HTTP servers, seen from outside: started, given orders, killed, started again. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const HOST = fileURLToPath(new URL('servers/http-host.mjs', import.meta.url));
const START_LIMIT_MS = 15_000;

export class HttpHost {
  /** How often it has ended although nobody asked it to. */
  deaths = 0;
  #journal;
  #names;
  #ports;
  #child;
  #starting;
  #isListening = false;
  #lastOrder = 0;
  /** Order → what to call when it was obeyed, or cannot be any more. */
  #pending = new Map();

  constructor(journal, names) {
    this.#journal = journal;
    this.#names = names;
  }

  get pid() {
    return this.#child?.pid ?? null;
  }

  /** Where a server is reached; undefined for one that is not here. */
  url(name) {
    const index = this.#names.indexOf(name);
    return index === -1 ? undefined : `http://127.0.0.1:${this.#ports[index]}/mcp`;
  }

  /** Every server is well and knows no session; the ports are those of the first time. */
  start() {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  /** Resolves when the server has obeyed. Nothing comes of it while there is no process, or one that is just starting. */
  async order(name, order, details = {}) {
    const child = this.#child;
    if (!this.#isListening || !child.connected) return;
    const number = (this.#lastOrder += 1);
    await new Promise((resolve) => {
      this.#pending.set(number, resolve);
      child.send({ number, order, name, ...details }, (error) => error && this.#obeyed(number));
    });
  }

  /** One that is just starting is let do so first. */
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
    child.on('message', ({ number }) => this.#obeyed(number));
    this.#isListening = true;
  }

  #ended(child) {
    for (const number of this.#pending.keys()) this.#obeyed(number);
    if (this.#child !== child) return;
    this.deaths += 1;
    this.#child = undefined;
    this.#starting = undefined;
    this.#isListening = false;
  }

  #obeyed(number) {
    this.#pending.get(number)?.();
    this.#pending.delete(number);
  }
}
