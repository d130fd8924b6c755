/**
 * Retries of remote servers, as one budget of all hosts for each server. The manager chart decides which connections ask: the
 * budget of this host has allowed their retries already.
 *
 * B1. Connections to the same server ask one after the other, in the order in which they began to wait.
 * B2. No retry waits for a lost engine: if it cannot be asked, every waiting retry proceeds with the budget of this host alone.
 * B3. `localhost` is a different server on each host, so its retries need no share of the fleet's budget.
 */
import { createHash } from 'node:crypto';
import { pause } from '../async/abort.js';
import type { Clock } from '../ports.js';
import { hostOf, reachOf } from '../text/host-reach.js';
import type { FleetEngine } from './engine.js';

export interface RetryTerms {
  readonly clock: Clock;
  /** Retries that may begin at once. */
  readonly burst: number;
  /** Milliseconds until one more may begin. */
  readonly everyMs: number;
  /** The address of a connection's server; undefined if it has none. */
  readonly serverOf: (name: string) => string | undefined;
  /** Called once for each connection that asks. */
  readonly onAllowed: (name: string) => void;
}

/** The connections that ask one budget, and the end of their wait. */
interface Queue {
  readonly names: Set<string>;
  readonly over: AbortController;
}

export class FleetRetries {
  readonly #engine: FleetEngine;
  readonly #terms: RetryTerms;
  readonly #asking = new Set<string>();
  readonly #queues = new Map<string, Queue>();

  constructor(engine: FleetEngine, terms: RetryTerms) {
    this.#engine = engine;
    this.#terms = terms;
  }

  /** Asks for these connections, and no longer for others. */
  watch(names: readonly string[]): void {
    const wanted = new Set(names);
    for (const name of this.#asking) if (!wanted.has(name)) this.#drop(name);
    for (const name of wanted) if (!this.#asking.has(name)) this.#ask(name);
  }

  #ask(name: string): void {
    const { serverOf, onAllowed } = this.#terms;
    this.#asking.add(name);
    const budget = budgetOf(serverOf(name));
    if (budget === undefined) return onAllowed(name);
    const known = this.#queues.get(budget);
    if (known !== undefined) return void known.names.add(name);
    const queue = { names: new Set([name]), over: new AbortController() };
    this.#queues.set(budget, queue);
    void this.#serve(budget, queue);
  }

  #drop(name: string): void {
    this.#asking.delete(name);
    for (const [budget, { names }] of this.#queues) {
      if (names.delete(name) && names.size === 0) this.#end(budget);
    }
  }

  #end(budget: string): void {
    const { over } = this.#queues.get(budget) ?? {};
    this.#queues.delete(budget);
    over?.abort();
  }

  async #serve(budget: string, { names, over: { signal } }: Queue): Promise<void> {
    const { clock, burst, everyMs, onAllowed } = this.#terms;
    while (!signal.aborted) {
      try {
        const waitMs = await this.#engine.take(budget, burst, everyMs);
        // Not all hosts ask again at the same moment.
        if (waitMs > 0) await pause(clock, waitMs + Math.random() * everyMs, signal);
        if (waitMs > 0) continue;
        const [name] = names;
        if (name === undefined) return;
        names.delete(name);
        if (names.size === 0) this.#end(budget);
        onAllowed(name);
      } catch {
        if (!signal.aborted) this.#allowAll();
      }
    }
  }

  #allowAll(): void {
    const names = [...this.#queues.values()].flatMap((queue) => [...queue.names]);
    for (const budget of this.#queues.keys()) this.#end(budget);
    names.forEach(this.#terms.onAllowed);
  }
}

/** The name of the budget, which does not reveal the server. Undefined for an address of the own machine. */
function budgetOf(address: string | undefined): string | undefined {
  const url = address !== undefined && URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || reachOf(hostOf(url)) === 'this-machine') {
    return undefined;
  }
  return `retry/${createHash('sha256').update(url.origin).digest('hex')}`;
}
