/** One connection to a server in another process: commands, orders, and bounded waits for what comes of them. */
import { afterEach } from 'vitest';
import type { ConnectionEvent } from '../../../machines/connection.events.js';
import type { ServerConfig, ServerSettings, TroupeOptions } from '../../../src/options.js';
import { createTroupe, type Troupe } from '../../../src/troupe.js';
import { whenEmits } from '../../support/test-troupe.js';
import { actorOf, isTaken, SERVER, whenTaken } from './account.js';

export const LIMIT_MS = 60_000;
const WAIT_MS = 20_000;

export const QUICK: NonNullable<ServerSettings['policy']> = {
  backoff: [50],
  maxAttempts: 2,
  intensity: { restarts: 4, periodMs: 60_000 },
  stableMs: 60_000,
  exhausted: { callAfterMs: 0 },
  ping: { idleMs: 100, timeoutMs: 300 },
  listChanged: { debounceMs: 50, maxWaitMs: 120 },
  stop: { drainMs: 500, stdinEndMs: 300, termMs: 300 },
};

export class Life {
  readonly troupe: Troupe;

  constructor(options: TroupeOptions) {
    this.troupe = createTroupe(options);
    lives.push(this);
    void this.troupe.start();
  }

  get connection() {
    const connection = this.troupe.connection(SERVER);
    if (connection === undefined) throw new Error('It is not known yet.');
    return connection;
  }

  /** Such as `handshaking.listing`; empty before it is known. */
  get path(): string {
    const { state = '', substate = '' } = this.troupe.connection(SERVER)?.status ?? {};
    return substate === '' ? state : `${state}.${substate}`;
  }

  /** Resolves when it is in a state that begins so; the present one counts. */
  async reaches(...paths: string[]): Promise<void> {
    await this.#sees(`one of ${paths.join(', ')}`, () => paths.some((path) => this.path.startsWith(path)));
  }

  /** Sends a command the first time that it is in that state, however short that is. */
  async answers(
    path: string,
    type: 'connection.retry' | 'connection.start' | 'connection.refresh',
  ): Promise<void> {
    await this.#sees(
      `a ${type} in ${path}`,
      () => this.path.startsWith(path) && this.connection.dispatch({ type }).accepted,
    );
  }

  /** Tells the chart itself, as nobody does who asks the connection first, the first time that it is in that state. */
  async isTold(path: string, ...events: ConnectionEvent[]): Promise<void> {
    await this.#sees(`the state ${path}`, () => {
      if (!this.path.startsWith(path)) return false;
      for (const event of events) actorOf('connection').send(event);
      return true;
    });
  }

  /** Resolves when the tool of that name is listed. */
  async lists(name: string): Promise<void> {
    const isListed = whenEmits(this.troupe.tools$, (tools) => tools.some((each) => each.tool === name));
    await this.within(`the tool ${name}`, isListed);
  }

  /** Resolves when an event of that type comes. */
  async tells(type: string): Promise<void> {
    await this.within(
      type,
      whenEmits(this.troupe.events$, (event) => event.type === type),
    );
  }

  /** Resolves when a chart has taken what is called so. */
  async takes(words: string): Promise<void> {
    await this.within(words, whenTaken(words));
  }

  /** Starts it whenever it has given up, until it is ready. */
  async comesBack(): Promise<void> {
    await this.#sees('the state ready', () => {
      if (this.path === 'failed.settled') this.command('start');
      return this.path.startsWith('ready');
    });
  }

  /** Sends a command, whatever becomes of it. */
  command(type: 'start' | 'stop' | 'retry' | 'restart' | 'refresh'): void {
    this.connection[type]().catch(() => {});
  }

  call(): Promise<unknown> {
    return this.troupe.callTool(`mcp__${SERVER}__echo`, {});
  }

  /** Changes its entry, whatever becomes of it. */
  reload(config: ServerConfig): void {
    this.troupe.reload({ [SERVER]: config }).catch(() => {});
  }

  async within<T>(what: string, wait: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`Waited for ${what}; it is in ${this.path}.`)), WAIT_MS);
    });
    return Promise.race([wait, over]).finally(() => clearTimeout(timer));
  }

  async #sees(what: string, isSo: () => boolean): Promise<void> {
    await this.within(what, whenEmits(this.troupe.status$, isSo));
  }
}

const lives: Life[] = [];
const programs: { close(): Promise<void> }[] = [];

/** Closes it after the test, when the lives with it are over. */
export function closing<T extends { close(): Promise<void> }>(program: T): T {
  programs.push(program);
  return program;
}

/** Ends each life, and the programs after them, after the test. */
export function useLives(): void {
  afterEach(async () => {
    for (const { troupe } of lives.splice(0)) await troupe.close();
    for (const program of programs.splice(0)) await program.close();
  }, LIMIT_MS);
}

/** Does it again and again, until a chart has taken what is called so. */
export async function untilTaken(words: string, act: () => Promise<void>): Promise<void> {
  for (const end = Date.now() + WAIT_MS; !isTaken(words);) {
    if (Date.now() > end) throw new Error(`It was never taken: ${words}`);
    await act();
  }
}
