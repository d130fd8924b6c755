/**
 * The ways of the charts with a real child process at the other end of a pipe, which is told what to do over a socket:
 * whatever it can cause is caused once. What it cannot is a list at the end, and nothing else may be missing.
 *
 * Longer than most files because its tests share one account of what was taken.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ActorOptions, ActorRefFrom, AnyActorLogic, AnyActorRef, InspectionEvent } from 'xstate';
import type { ConnectionEvent } from '../../machines/connection.events.js';
import { connectionMachine } from '../../machines/connection.machine.js';
import { createFileCatalogStore } from '../../src/catalog/cache-files.js';
import type { ServerSettings, StdioServerConfig, TroupeOptions } from '../../src/options.js';
import { tool } from '../../src/testing/ordinary-answers.js';
import { controlProgram, type ControlledProgram } from '../../src/testing/scripted-program.js';
import type { ServerScript } from '../../src/testing/server-script.js';
import { createTroupe, type Troupe } from '../../src/troupe.js';
import { ChartEdges } from '../support/chart-edges.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';
import { whenEmits } from '../support/test-troupe.js';

const watched = vi.hoisted(() => ({ count: undefined as ((event: InspectionEvent) => void) | undefined }));

vi.mock('xstate', async (original) => {
  const xstate = await original<typeof import('xstate')>();
  const inspect = (event: InspectionEvent): void => watched.count?.(event);
  const createActor = (logic: AnyActorLogic, options?: ActorOptions<AnyActorLogic>) =>
    xstate.createActor(logic, { inspect, ...options } as never);
  return { ...xstate, createActor };
});

useLeakCheck();
useCrashWatch();

const edges = new ChartEdges(connectionMachine);
/** The chart of the connection that came last. */
let chart: ActorRefFrom<typeof connectionMachine> | undefined;
watched.count = (event) => {
  if (event.type === '@xstate.actor') {
    const actor = event.actorRef as AnyActorRef;
    if (actor.id === 'files') chart = actor as typeof chart;
  }
  edges.count(event);
};

const LIMIT_MS = 60_000;
const WAIT_MS = 20_000;
const MAIN = fileURLToPath(new URL('../../dist/bundle/src/testing/scripted-server-main.js', import.meta.url));
const QUICK: NonNullable<ServerSettings['policy']> = {
  backoff: [50],
  maxAttempts: 2,
  intensity: { restarts: 4, periodMs: 60_000 },
  stableMs: 60_000,
  exhausted: { callAfterMs: 0 },
  ping: { idleMs: 100, timeoutMs: 300 },
  listChanged: { debounceMs: 50, maxWaitMs: 120 },
  stop: { drainMs: 500, stdinEndMs: 300, termMs: 300 },
};

class Life {
  readonly troupe: Troupe;

  constructor(
    readonly program: ControlledProgram,
    options: TroupeOptions,
  ) {
    this.troupe = createTroupe(options);
  }

  static async begin(script: ServerScript = {}, settings: Partial<StdioServerConfig> = {}): Promise<Life> {
    const program = await controlProgram(script, { main: MAIN });
    const life = new Life(program, { servers: { files: { ...program.config, policy: QUICK, ...settings } } });
    lives.push(life);
    void life.troupe.start();
    return life;
  }

  get connection() {
    return this.troupe.connection('files')!;
  }

  get path(): string {
    const { state, substate } = this.connection.status;
    return substate === '' ? state : `${state}.${substate}`;
  }

  /** Resolves when it is in a state that begins so; the present one counts. */
  async reaches(...paths: string[]): Promise<void> {
    const isThere = (): boolean => paths.some((path) => this.path.startsWith(path));
    await bounded(`one of ${paths.join(', ')}`, () => this.path, whenEmits(this.troupe.status$, isThere));
  }

  /** Sends a command the first time that it is in that state, however short that is. */
  async answers(
    path: string,
    type: 'connection.retry' | 'connection.start' | 'connection.refresh',
  ): Promise<void> {
    const isThere = (): boolean => this.path.startsWith(path) && this.connection.dispatch({ type }).accepted;
    await bounded(`a ${type} in ${path}`, () => this.path, whenEmits(this.troupe.status$, isThere));
  }

  /** Tells the chart itself, as nobody does who asks the connection first, the first time that it is in that state. */
  async isTold(path: string, ...events: ConnectionEvent[]): Promise<void> {
    const isThere = (): boolean => {
      if (!this.path.startsWith(path)) return false;
      for (const event of events) chart?.send(event);
      return true;
    };
    await bounded(`the state ${path}`, () => this.path, whenEmits(this.troupe.status$, isThere));
  }

  /** Resolves when the tool of that name is listed. */
  async lists(name: string): Promise<void> {
    const isListed = whenEmits(this.troupe.tools$, (tools) => tools.some((each) => each.tool === name));
    await bounded(`the tool ${name}`, () => this.path, isListed);
  }

  /** Resolves when an event of that type comes. */
  async tells(type: string): Promise<void> {
    await bounded(
      type,
      () => this.path,
      whenEmits(this.troupe.events$, (event) => event.type === type),
    );
  }

  async tell(order: Parameters<ControlledProgram['tell']>[0]): Promise<void> {
    await bounded('a process that listens', () => this.path, this.program.whenRunning());
    this.program.tell(order);
  }

  /** Sends a command, whatever becomes of it. */
  command(type: 'start' | 'stop' | 'retry' | 'restart' | 'refresh'): void {
    this.connection[type]().catch(() => {});
  }

  call(): Promise<unknown> {
    return this.troupe.callTool('mcp__files__echo', {});
  }

  async end(): Promise<void> {
    await this.troupe.close();
    await this.program.close();
  }
}

const lives: Life[] = [];

afterEach(async () => {
  for (const life of lives.splice(0)) await life.end();
}, LIMIT_MS);

async function bounded<T>(what: string, where: () => string, wait: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited for ${what}; it is in ${where()}.`)), WAIT_MS);
  });
  return Promise.race([wait, over]).finally(() => clearTimeout(timer));
}

/** Does it again and again, until the chart has taken a transition that is called so. */
async function untilTaken(words: string, act: () => Promise<void>): Promise<void> {
  const isMissing = (): boolean => edges.missing.some((each) => each.includes(words));
  for (const end = Date.now() + WAIT_MS; isMissing();) {
    if (Date.now() > end) throw new Error(`It was never taken: ${words}`);
    await act();
  }
}

const SILENT = { fault: 'silent' } as const;
const CRASH = { fault: 'crash' } as const;
const LISTING = 'tools/list';
const STUBBORN: ServerScript = { stubborn: true };

describe('a real child', { timeout: LIMIT_MS }, () => {
  it('is started, used, listed again, restarted, stopped and started again.', async () => {
    const life = await Life.begin({}, { policy: { ...QUICK, stableMs: 50 } });
    await life.reaches('ready');
    expect(await life.call()).toMatchObject({ content: [{ text: 'echo {}' }] });
    await untilTaken('session.stable', () => pause(20));
    await life.connection.refresh();
    await life.connection.restart();
    await life.connection.stop();
    expect(life.path).toBe('stopped');
    await life.connection.start();
    expect(life.path).toMatch(/^ready/);
  });

  it('is told another entry, other numbers, and what became of network and clock.', async () => {
    const life = await Life.begin();
    await life.reaches('ready');
    const entry = { ...life.program.config, policy: QUICK };
    await life.troupe.reload({ files: { ...entry, policy: { ...QUICK, maxAttempts: 3 } } });
    life.troupe.network(false);
    life.troupe.network(true);
    const reloaded = life.troupe.reload({ files: { ...entry, env: { ANOTHER: '1' } } });
    await life.reaches('shuttingDown');
    await life.troupe.reload({ files: { ...entry, env: { ANOTHER: '2' } } });
    await reloaded;
    await life.reaches('ready');
    expect(life.connection.status.generation).toBeGreaterThan(1);
  });

  it('is told what is so already, and that the clock has jumped.', async () => {
    const start = { type: 'connection.start' } as const;
    const restart = { type: 'connection.restart' } as const;
    const refresh = { type: 'connection.refresh' } as const;
    const stop = { type: 'connection.stop', reason: 'stop' } as const;
    const jump = { type: 'clock.jumped' } as const;
    const life = await Life.begin({ ...STUBBORN, on: { initialize: { afterMs: 100 } } });
    await life.isTold('configuring.resolving', start, start);
    await life.isTold('launching', start, jump);
    await life.isTold('handshaking', start);
    await life.isTold('ready', start, refresh, refresh);
    await untilTaken('liveness.resting: clock.jumped', () => life.isTold('ready', jump));
    await life.isTold('ready', restart);
    await life.isTold('shuttingDown', start, restart, stop, stop, stop, stop);
    await life.reaches('stopped');
    await life.connection.start();
    await life.tell(CRASH);
    await life.isTold('reconnecting', start);
    await life.reaches('ready');
    expect(life.path).toMatch(/^ready/);
  });

  it('changes its tools, more often than they can be read, and while they are read.', async () => {
    const life = await Life.begin({ on: { [LISTING]: [{}, { afterMs: 60 }] } });
    await life.reaches('ready');
    await untilTaken('catalog.debouncing: catalog.listChanged, branch 1', async () => {
      await life.tell({ tools: [tool(`tool-${Date.now()}`)] });
      await pause(5);
    });
    await untilTaken('xstate.done.actor.refreshTools, branch 0', async () => {
      await life.tell({ tools: [tool('last')] });
      await pause(15);
    });
    await life.lists('last');
    await untilTaken('catalog.debouncing: connection.refresh', async () => {
      await life.tell({ tools: [tool('once more')] });
      await pause(20);
      life.command('refresh');
    });
    await life.lists('once more');
    expect(life.path).toMatch(/^ready/);
  });

  it('changes its resources while they are read, and more often than that.', async () => {
    const changed = { send: { jsonrpc: '2.0', method: 'notifications/resources/list_changed' } };
    const resources = { result: { resources: [] } };
    const templates = { result: { resourceTemplates: [] } };
    const life = await Life.begin({
      capabilities: { tools: {}, resources: { listChanged: true } },
      on: { 'resources/list': { ...resources, afterMs: 150 }, 'resources/templates/list': templates },
    });
    await life.reaches('ready');
    for (const [pauseMs, words] of [
      [5, 'extras.debouncing: catalog.extrasChanged, branch 1'],
      [400, 'extras.none: catalog.extrasChanged'],
      [20, 'extras.debouncing: catalog.extrasChanged, branch 0'],
    ] as const) {
      await untilTaken(words, async () => {
        await life.tell(changed);
        await pause(pauseMs);
      });
    }
    await untilTaken('extras.debouncing: connection.refresh', async () => {
      await life.tell(changed);
      await pause(20);
      life.command('refresh');
    });
    expect(life.path).toMatch(/^ready/);
  });

  it('cannot list its tools again, while they change.', async () => {
    const error = { error: { code: -32_000, message: 'busy' }, afterMs: 200 };
    const life = await Life.begin({ on: { [LISTING]: [{}, error, {}] } });
    await life.reaches('ready');
    life.command('refresh');
    await life.tell({ tools: [tool('late')] });
    await life.lists('late');
    expect(life.path).toMatch(/^ready/);
  });

  it('waits for a person, who says no, then yes.', async () => {
    const program = await controlProgram({}, { main: MAIN });
    const folder = mkdtempSync(join(tmpdir(), 'troupe-paths-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, '.mcp.json');
    writeFileSync(path, JSON.stringify({ mcpServers: { files: program.config } }));
    const life = new Life(program, { config: { path, scope: 'project' }, policy: QUICK });
    lives.push(life);
    void life.troupe.start();
    await life.reaches('configuring.awaitingTrust');
    await life.isTold(
      'configuring.awaitingTrust',
      { type: 'connection.start' },
      { type: 'connection.start' },
    );
    life.command('retry');
    await life.reaches('configuring.awaitingTrust');
    life.connection.deny();
    await life.reaches('failed.settled');
    life.command('start');
    await life.reaches('configuring.awaitingTrust');
    await life.connection.approve();
    await life.reaches('ready');
    expect(life.path).toMatch(/^ready/);
  });

  it('wants a variable that nobody has set.', async () => {
    const life = await Life.begin({}, { args: ['${TROUPE_NO_SUCH_VARIABLE}'] });
    await life.reaches('failed.settled');
    expect(life.connection.status.error).toMatchObject({ code: 'variable-missing' });
  });

  it('is a program that does not exist.', async () => {
    const life = await Life.begin({}, { command: 'no-such-program-of-troupe' });
    await life.reaches('failed.settled');
    expect(life.connection.status.error).toMatchObject({ code: 'command-not-found' });
  });

  it('cannot list its tools any more, and then can.', async () => {
    const error = { error: { code: -32_000, message: 'busy' } };
    const life = await Life.begin({ on: { [LISTING]: [{}, error, error, {}] } });
    await life.reaches('ready');
    life.command('refresh');
    await life.reaches('ready.resting+stale');
    await life.tell({ tools: [tool('a')] });
    await life.reaches('ready.resting+debouncing');
    await life.reaches('ready.resting+stale');
    life.command('refresh');
    await life.reaches('ready.resting+current');
    expect(life.path).toMatch(/^ready/);
  });

  it('misses one ping, answers the next, and then misses two.', async () => {
    const life = await Life.begin({ on: { ping: [SILENT, {}, {}, SILENT] } });
    await life.reaches('ready.suspect');
    await life.reaches('ready.resting');
    await life.tells('connection.lost');
    await life.reaches('ready');
    expect(life.connection.status.generation).toBe(2);
  });

  it('is silent on its last attempt.', async () => {
    const life = await Life.begin({ on: { ping: SILENT } }, { policy: { ...QUICK, maxAttempts: 1 } });
    await life.reaches('ready.suspect');
    await life.reaches('failed.resting');
    await expect(life.call()).resolves.toBeDefined();
    await life.reaches('ready.suspect');
    await life.reaches('failed.resting');
    life.command('start');
    await life.reaches('ready');
  });

  it('crashes once too often.', async () => {
    const life = await Life.begin({}, { policy: { ...QUICK, intensity: { restarts: 2, periodMs: 60_000 } } });
    for (const _ of [1, 2]) {
      await life.reaches('ready');
      const lost = life.tells('connection.lost');
      await life.tell(CRASH);
      await lost;
    }
    await life.reaches('failed.settled');
    expect(life.connection.status.error).toMatchObject({ code: 'crash-loop' });
    life.command('retry');
    await life.reaches('ready');
  });

  it('does not start, is given up, and is tried again for a call and for a person.', async () => {
    const life = await Life.begin({ start: { stderr: 'no disk', ...CRASH, exitCode: 3 } });
    await life.reaches('failed.resting');
    expect(life.connection.status.error).toMatchObject({ exit: { code: 3 } });
    await expect(life.call()).rejects.toThrow();
    await life.reaches('failed.resting');
    life.command('retry');
    await life.reaches('launching', 'handshaking');
    await life.reaches('failed.releasing', 'failed.resting');
    life.command('start');
    await life.reaches('failed.resting');
  });

  it('speaks a version of the protocol that nobody here does.', async () => {
    const life = await Life.begin({ protocolVersion: '1999-01-01' });
    await life.reaches('failed.settled');
    life.command('start');
    await life.reaches('failed.settled');
    expect(life.connection.status.error).toMatchObject({ code: 'protocol-version' });
  });

  it('cannot list its tools to begin with.', async () => {
    const life = await Life.begin({ on: { [LISTING]: { error: { code: -32_000, message: 'busy' } } } });
    await life.reaches('reconnecting');
    await life.answers('reconnecting.releasing', 'connection.retry');
    await life.answers('reconnecting.backingOff', 'connection.retry');
    await life.answers('failed.releasing', 'connection.retry');
    await life.reaches('failed.resting');
    expect(life.connection.status.error).toMatchObject({ code: 'server-error' });
  });

  it('is lazy, wakes for a call and rests again, and is called while it goes to rest.', async () => {
    const life = await Life.begin({}, { start: 'lazy', idleStopMs: 300 });
    await life.answers('configuring.resolving', 'connection.start');
    await life.reaches('configuring.dormant');
    await life.call();
    await life.reaches('shuttingDown');
    life.command('start');
    await life.reaches('ready');
    await life.isTold('shuttingDown', { type: 'connection.restart' });
    await life.reaches('ready');
    expect(life.path).toMatch(/^ready/);
  });

  it('rests from the beginning where its tools are known from an earlier run.', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-paths-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const program = await controlProgram({}, { main: MAIN });
    const servers = { files: { ...program.config, policy: QUICK, start: 'lazy' } } as const;
    const live = (): Life => {
      const life = new Life(program, { servers, cache: createFileCatalogStore({ folder }) });
      lives.push(life);
      void life.troupe.start();
      return life;
    };
    const first = live();
    await first.lists('echo');
    await first.troupe.close();
    const second = live();
    await second.reaches('configuring.dormant');
    expect(await second.call()).toMatchObject({ content: [{ text: 'echo {}' }] });
  });

  it('will not go: it is stopped three times over, or waited for.', async () => {
    const life = await Life.begin({ ...STUBBORN, on: { 'tools/call': SILENT } });
    await life.reaches('ready');
    const call = life.call();
    call.catch(() => {});
    life.command('restart');
    await life.reaches('shuttingDown.draining');
    life.command('restart');
    for (const _ of [1, 2, 3, 4]) life.command('stop');
    await life.reaches('stopped');
    await expect(call).rejects.toThrow();
  });
});

/** Why no child at the other end of a pipe causes it, and what of the chart that is. */
const NOT_BY_A_CHILD: Readonly<Record<string, readonly RegExp[]>> = {
  'Only a remote server signs in, is held while the network is down, or is tried for ever.': [
    /authorizing/,
    /\.offline/,
    /retryingSlowly/,
    /waitingForSlot: always/,
  ],
  'Only a server that is reached by an address, or in process, can have two sessions.': [
    /succession/,
    /(session\.lost|probeAgain), branch 0, to connection\.shuttingDown$/,
  ],
  'Nothing survives SIGKILL.': [
    /xstate\.error\.actor\.(releaseSession|releaseFailed|closeSession|killSession)/,
    /releaseFailed, branch 0, to connection\.reconnecting\.backingOff/,
    /settled: connection\.(retry|start), branch 1/,
    /killSession, branch [01], to connection\.configuring/,
  ],
  'It never fails, or only for want of memory.': [
    /xstate\.error\.actor\.(drainCalls|enrichCatalog)/,
    /openTransport, branch 2/,
  ],
};

describe('what no child at the other end of a pipe can cause', () => {
  it('is the rest of the chart.', () => {
    process.stdout.write(`by a real child: ${edges.summary}\n`);
    const reasons = Object.values(NOT_BY_A_CHILD).flat();
    expect(edges.missing.filter((words) => !reasons.some((reason) => reason.test(words)))).toEqual([]);
  });
});
