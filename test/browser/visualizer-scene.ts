/**
 * A fleet in which something of every kind happens, on a controlled clock, and its log: the content of the pictures and
 * of the tests of the page.
 */
import { createTroupe, type Troupe } from '../../src/runtime/troupe.js';
import type { LogSink } from '../../src/event-log/record/record-options.js';
import { createControlledClock, type ControlledClock } from '../../src/testing/controlled-clock.js';
import { tool } from '../../src/testing/ordinary-answers.js';
import { RpcFault, ScriptedServer } from '../../src/testing/scripted-server.js';
import type { ServerScript } from '../../src/testing/server-script.js';

/** When the scene starts. */
const START = Date.UTC(2026, 4, 12, 8, 30, 0);

interface Character {
  readonly version: string;
  readonly tools: readonly string[];
  /** Milliseconds until it runs, and until it answers. */
  readonly startMs: number;
  readonly answerMs: number;
}

function serverNamed(name: string, clock: ControlledClock, character: Character): ScriptedServer {
  const { version, startMs, answerMs } = character;
  const script: ServerScript = {
    tools: tools(...character.tools),
    beforeConnect: () => passed(clock, startMs),
    on: {
      initialize: (params) => ({
        protocolVersion: params['protocolVersion'],
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name, version },
        instructions: `Ask ${name} only for what you need.`,
      }),
      'tools/list': { afterMs: Math.round(answerMs / 2) },
      'tools/call': { afterMs: answerMs },
    },
  };
  return new ScriptedServer(script, clock);
}

async function passed(clock: ControlledClock, ms: number): Promise<void> {
  await new Promise<void>((resolve) => clock.setTimeout(resolve, ms));
}

const tools = (...names: readonly string[]) => names.map((name) => tool(name));

export interface Scene {
  readonly troupe: Troupe;
  readonly clock: ControlledClock;
  readonly servers: Readonly<Record<string, ScriptedServer>>;
  /** The log so far. */
  readonly log: () => string;
}

/** The fleet, not started. */
export function makeScene(more: Readonly<Record<string, ScriptedServer>> = {}): Scene {
  const clock = createControlledClock(START);
  const servers: Record<string, ScriptedServer> = {
    files: serverNamed('files', clock, {
      version: '2.4.0',
      tools: ['read_file', 'write_file', 'list_directory'],
      startMs: 240,
      answerMs: 60,
    }),
    search: serverNamed('search', clock, {
      version: '0.9.1',
      tools: ['web_search', 'fetch'],
      startMs: 410,
      answerMs: 320,
    }),
    git: serverNamed('git', clock, {
      version: '1.8.2',
      tools: ['log', 'diff', 'blame', 'commit'],
      startMs: 150,
      answerMs: 90,
    }),
    weather: new ScriptedServer({
      on: {
        initialize: () => {
          throw new RpcFault(-32_000, 'The licence has expired.');
        },
      },
    }),
    memory: serverNamed('memory', clock, {
      version: '3.0.0',
      tools: ['remember', 'recall'],
      startMs: 690,
      answerMs: 30,
    }),
    calendar: serverNamed('calendar', clock, {
      version: '1.1.0',
      tools: ['list_events', 'add_event'],
      startMs: 320,
      answerMs: 140,
    }),
    ...more,
  };
  const lines: string[] = [];
  const sink: LogSink = { write: async (text) => void lines.push(text), close: () => {} };
  const troupe = createTroupe({
    clock,
    seed: 7,
    record: { target: sink, wire: true },
    servers: Object.fromEntries(
      Object.entries(servers).map(([name, server]) => [name, { type: 'in-process', server }]),
    ),
  });
  return { troupe, clock, servers, log: () => lines.join('') };
}

/** Runs a troupe once, so that no module has to load while the clock of the scene advances. */
async function loadEverything(): Promise<void> {
  const sink: LogSink = { write: async () => {}, close: () => {} };
  const server = new ScriptedServer({ tools: tools('try') });
  const troupe = createTroupe({
    record: { target: sink, wire: true },
    servers: { first: { type: 'in-process', server } },
  });
  await troupe.start();
  await troupe.callTool('mcp__first__try', {});
  await troupe.close();
}

/** Half a minute of a fleet's life: calls, a lost session, a server that fails, a list that changes, a rejected command. */
export async function playScene({ troupe, clock, servers }: Scene): Promise<void> {
  const pass = async (ms: number): Promise<void> => clock.advance(ms);
  const call = async (name: string, args: Readonly<Record<string, unknown>> = {}): Promise<void> => {
    const result = troupe.callTool(name, args).catch(() => undefined);
    await pass(400);
    await result;
  };
  await loadEverything();
  const wait = { isOver: false };
  const starting = troupe.start().finally(() => {
    wait.isOver = true;
  });
  for (let step = 0; step < 1_000 && !wait.isOver; step += 1) await pass(20);
  await starting;
  await call('mcp__files__read_file', { path: 'notes.txt' });
  await call('mcp__git__log');
  await pass(1_500);
  servers['git']?.changeTools(tools('log', 'diff', 'blame', 'commit', 'stash'));
  await pass(2_500);
  troupe.connection('files')?.dispatch({ type: 'connection.retry' });
  await servers['search']?.die();
  await pass(3_000);
  await call('mcp__search__web_search', { query: 'xstate' });
  await pass(2_000);
  if (servers['search'] !== undefined)
    servers['search'].script = {
      ...servers['search'].script,
      beforeConnect: () => {
        throw new Error('The port is taken.');
      },
    };
  await servers['search']?.die();
  await pass(1_200);
  await call('mcp__memory__recall', { key: 'plan' });
  const stopping = troupe.connection('calendar')?.stop();
  await pass(1_500);
  await stopping;
  for (let turn = 0; turn < 4; turn += 1) {
    await call('mcp__files__list_directory', { path: '.' });
    await pass(250);
  }
}
