/** A connection to a server in another process: commands, and waits with a time limit. */
import { afterEach } from 'vitest';
import type { ConnectionEvent } from '../../../machines/connection/connection.events.js';
import type { TroupeOptions } from '../../../src/options.js';
import type { ServerConfig, ServerSettings } from '../../../src/config/entry/server-config.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { whenEmits } from '../../support/test-troupe.js';
import { inTime } from '../../support/time-limit.js';
import { actorOf, SERVER, whenTaken } from './account.js';

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
    if (connection === undefined) throw new Error('The connection does not exist yet.');
    return connection;
  }

  /** The path of its state, such as `handshaking.listing`; empty before the connection exists. */
  get path(): string {
    const { state = '', substate = '' } = this.troupe.connection(SERVER)?.status ?? {};
    return substate === '' ? state : `${state}.${substate}`;
  }

  /** Resolves when the path of its state starts with one of these. The current state counts. */
  reaches(...paths: string[]): Promise<unknown> {
    return this.#sees(`one of ${paths.join(', ')}`, () => paths.some((path) => this.path.startsWith(path)));
  }

  /** Sends a command the first time that it is in a state, however short that is. */
  answers(
    path: string,
    type: 'connection.retry' | 'connection.start' | 'connection.refresh',
  ): Promise<unknown> {
    return this.#sees(
      `a ${type} in ${path}`,
      () => this.path.startsWith(path) && this.connection.dispatch({ type }).accepted,
    );
  }

  /**
   * Sends events to the chart, without the checks of a connection, the first time that it is in a state. A function
   * creates its event at that moment.
   */
  receives(path: string, ...events: (ConnectionEvent | (() => ConnectionEvent))[]): Promise<unknown> {
    return this.#sees(`the state ${path}`, () => {
      if (!this.path.startsWith(path)) return false;
      for (const event of events) {
        actorOf('connection').send(typeof event === 'function' ? event() : event);
      }
      return true;
    });
  }

  /** Resolves when a tool is listed. */
  lists(name: string): Promise<unknown> {
    const isListed = whenEmits(this.troupe.tools$, (tools) => tools.some((each) => each.tool === name));
    return this.within(`the tool ${name}`, isListed);
  }

  /** Resolves with the next event of a type. */
  emits(type: string): Promise<unknown> {
    return this.within(
      type,
      whenEmits(this.troupe.events$, (event) => event.type === type),
    );
  }

  /** Resolves when a chart has taken every transition whose description contains these words. */
  takes(words: string): Promise<unknown> {
    return this.within(words, whenTaken(words));
  }

  /** Starts it again whenever it has given up, or waits to be used, until it is ready. */
  comesBack(): Promise<unknown> {
    return this.#sees('the state ready', () => {
      if (['failed.unreleased.waiting', 'configuring.dormant'].includes(this.path)) this.command('start');
      return this.path.startsWith('ready');
    });
  }

  /** Sends a command and ignores its outcome. */
  command(type: 'start' | 'stop' | 'retry' | 'restart' | 'refresh'): void {
    this.connection[type]().catch(() => {});
  }

  /** Its rejection counts as handled: a test may await it later, or not at all. */
  call(): Promise<unknown> {
    const call = this.troupe.callTool(`mcp__${SERVER}__echo`, {});
    call.catch(() => {});
    return call;
  }

  /** Changes its entry and ignores the outcome. */
  reload(config: ServerConfig): void {
    this.troupe.reload({ [SERVER]: config }).catch(() => {});
  }

  within<T>(what: string, wait: Promise<T>): Promise<T> {
    return inTime(wait, WAIT_MS, () => new Error(`Waited for ${what}; the state is ${this.path}.`));
  }

  #sees(what: string, isSo: () => boolean): Promise<unknown> {
    return this.within(what, whenEmits(this.troupe.status$, isSo));
  }
}

const lives: Life[] = [];
const programs: { close(): Promise<void> }[] = [];

/** Closes a program after the test, when the troupes that use it have closed. */
export function closing<T extends { close(): Promise<void> }>(program: T): T {
  programs.push(program);
  return program;
}

/** After each test, closes each troupe, then the programs. */
export function useLives(): void {
  afterEach(async () => {
    for (const { troupe } of lives.splice(0)) await troupe.close();
    for (const program of programs.splice(0)) await program.close();
  }, LIMIT_MS);
}
