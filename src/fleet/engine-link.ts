/** The link to an engine in another process: whether it is there, and the limit of every operation. */
import { systemClock } from '../ports.js';
import { messageOf } from '../text/error-message.js';
import { FleetError } from './engine.js';

/** Options that every engine in another process has. */
export interface EngineOptions {
  /** Where the engine is, with the name and the password if it wants them. They are not shown in errors. */
  readonly address: string;
  /** Separates fleets that share an engine: 1 to 32 letters, digits, `-` or `_`. Default `troupe`. */
  readonly namespace?: string;
  /** Longest time of one operation, milliseconds. Default 1,000. */
  readonly timeoutMs?: number;
}

export class EngineLink {
  readonly address: URL;
  readonly namespace: string;
  readonly timeoutMs: number;
  #isUp = false;
  /** Called once the first link is there, or the engine is closed. Undefined after that. */
  #waiting: Set<() => void> | undefined = new Set();
  #problem = 'it was not reached yet';

  /** Throws a `TypeError` for options that cannot be used. It does not show the address, which may have a password. */
  constructor(
    called: string,
    { address, namespace = 'troupe', timeoutMs = 1_000 }: EngineOptions,
    protocols: RegExp,
  ) {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (url === undefined || !protocols.test(url.protocol) || url.hostname === '') {
      throw new TypeError(
        `${called}: the 'address' must be a URL with a host that matches ${protocols.source}.`,
      );
    }
    if (!/^[\w-]{1,32}$/.test(namespace))
      throw new TypeError(`${called}: the 'namespace' must have 1 to 32 letters, digits, '-' or '_'.`);
    if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1)
      throw new TypeError(`${called}: the 'timeoutMs' must be a whole number of milliseconds, 1 at least.`);
    this.address = url;
    this.namespace = namespace;
    this.timeoutMs = timeoutMs;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  up(): void {
    this.#isUp = true;
    this.#letGo();
  }

  /** Why an attempt failed, or why the link was lost. */
  down(problem: unknown): void {
    this.#isUp = false;
    this.#problem = messageOf(problem);
  }

  close(): void {
    this.down('it is closed here');
    this.#letGo();
  }

  get error(): FleetError {
    const { host } = this.address;
    return new FleetError(
      'engine-unavailable',
      `The fleet's engine at ${host} cannot be used: ${this.#problem}.`,
    );
  }

  /**
   * Runs an operation, within the limit. Only before the first link is there, it waits for that. The signal aborts when the
   * limit is over, so that an operation of several steps takes no further one.
   */
  async run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const over = new AbortController();
    let timer: unknown;
    const late = new Promise<never>((_, reject) => {
      timer = systemClock.setTimeout(() => {
        if (this.#isUp) this.#problem = `it did not answer within ${this.timeoutMs} ms`;
        const { error } = this;
        reject(error);
        over.abort(error);
      }, this.timeoutMs);
    });
    try {
      return await Promise.race([late, this.#work(work, over.signal)]);
    } finally {
      systemClock.clearTimeout(timer);
    }
  }

  async #work<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#waiting !== undefined) await new Promise<void>((resolve) => this.#waiting?.add(resolve));
    if (!this.#isUp) throw this.error;
    try {
      return await work(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof FleetError) throw error;
      if (this.#isUp) this.#problem = messageOf(error);
      throw this.error;
    }
  }

  #letGo(): void {
    for (const go of this.#waiting ?? []) go();
    this.#waiting = undefined;
  }
}
