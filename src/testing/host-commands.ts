/**
 * What can happen to a host and one scripted server, as commands for fast-check, with an oracle that knows what must follow.
 * Needs no fast-check itself: the commands have the shape of its `AsyncCommand`.
 */
import { canonicalJson } from '../json/write-json.js';
import type { Troupe } from '../runtime/troupe.js';
import { tool } from './ordinary-answers.js';
import type { ScriptedServer } from './scripted-server.js';

/** What must be true of the host: the oracle. Extend it with what the host shows. */
export interface HostModel {
  /** State of the connection, once it is at rest. */
  state: 'ready' | 'failed' | 'stopped';
  /** Whether the next session can be opened. */
  isHealthy: boolean;
  /** Names of the tools that the server has. */
  tools: readonly string[];
  /** Attempts of this round: a loss begins another one, and a command a new round. */
  attempts: number;
}

/** The host: its troupe, the server, and the server's name in it. */
export interface HostUnderCommands {
  /** The troupe; its server needs `policy: HOST_POLICY`. */
  readonly troupe: Troupe;
  /** The server. */
  readonly server: ScriptedServer;
  /** Name of the server in the troupe. */
  readonly name: string;
}

/**
 * A command of fast-check.
 *
 * @typeParam TModel The oracle.
 * @typeParam THost The host.
 */
export interface HostCommand<TModel extends HostModel, THost extends HostUnderCommands> {
  /**
   * Whether it can happen.
   *
   * @param model The oracle.
   */
  check(model: Readonly<TModel>): boolean;
  /**
   * Makes it happen to both, and compares them.
   *
   * @param model The oracle, which is changed.
   * @param host The host.
   *
   * @throws `Error` if the host is in another state than the oracle, or what the check of the host throws.
   */
  run(model: TModel, host: THost): Promise<void>;
  /** Its name in a counterexample. */
  toString(): string;
}

/** Policy for the server: three attempts in a round, which follow each other at once; no session lasts long enough to end it. */
export const HOST_POLICY = {
  backoff: [0],
  maxAttempts: 3,
  stableMs: 3_600_000,
  intensity: { restarts: 1_000, periodMs: 1_000 },
  listChanged: { debounceMs: 0, maxWaitMs: 0 },
} as const;

/** The oracle at the start, once the server is ready. */
export const HOST_START: HostModel = { state: 'ready', isHealthy: true, tools: ['echo'], attempts: 1 };

type Act = (model: HostModel, host: HostUnderCommands) => Promise<unknown>;

const connectionOf = ({ troupe, name }: HostUnderCommands) => {
  const connection = troupe.connection(name);
  if (connection === undefined) throw new Error(`The troupe has no server '${name}'.`);
  return connection;
};

const always = (): boolean => true;
const isIn =
  (...states: readonly HostModel['state'][]) =>
  ({ state }: HostModel): boolean =>
    states.includes(state);

/** After the rest of a round. */
function attempt(model: HostModel, attempts: number): void {
  const isReady = model.isHealthy && attempts <= HOST_POLICY.maxAttempts;
  model.state = isReady ? 'ready' : 'failed';
  model.attempts = attempts;
}

const ACTS: readonly (readonly [string, (model: HostModel) => boolean, Act])[] = [
  ['start', isIn('stopped', 'failed'), begun('start')],
  ['retry', isIn('failed'), begun('retry')],
  ['restart', isIn('ready'), begun('restart')],
  [
    'stop',
    isIn('ready', 'failed'),
    async (model, host) => {
      await connectionOf(host).stop();
      model.state = 'stopped';
    },
  ],
  [
    'crash',
    isIn('ready'),
    async (model, { server }) => {
      attempt(model, model.attempts + 1);
      await server.die();
    },
  ],
  [
    'call',
    always,
    async ({ state }, host) => {
      const [first] = host.server.script.tools ?? [];
      const call = connectionOf(host).callTool(first?.name ?? 'echo', {});
      const isAnswered = await call.then(always, () => false);
      if (state === 'ready' && !isAnswered) throw new Error('A call of a ready server failed.');
      if (state === 'stopped' && isAnswered) throw new Error('A call of a stopped server was answered.');
    },
  ],
  [
    'fall ill',
    ({ isHealthy }) => isHealthy,
    async (model, { server }) => {
      model.isHealthy = false;
      server.script = { ...server.script, on: { initialize: { error: { code: -32_000, message: 'ill' } } } };
    },
  ],
  [
    'recover',
    ({ isHealthy }) => !isHealthy,
    async (model, { server }) => {
      model.isHealthy = true;
      const { on: _, ...script } = server.script;
      server.script = script;
    },
  ],
  [
    'change tools',
    isIn('ready'),
    async (model, { server }) => {
      model.tools = [...model.tools, `tool-${model.tools.length}`];
      server.changeTools(model.tools.map((name) => tool(name)));
    },
  ],
];

function begun(command: 'start' | 'retry' | 'restart'): Act {
  return async (model, host) => {
    attempt(model, 1);
    const connection = connectionOf(host);
    await connection[command]().catch(() => {});
  };
}

/**
 * The commands, for `fc.commands(hostCommands().map(fc.constant))`. Each starts from a connection at rest, and ends when the
 * troupe shows what the oracle says.
 *
 * @typeParam TModel The oracle: {@link HostModel} and what the host adds.
 * @typeParam THost The host: {@link HostUnderCommands} and what the host adds.
 * @param check Compares what the host shows with the oracle, after each command. Default: only the troupe is compared.
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 * import { createScriptedServer, hostCommands, HOST_POLICY, HOST_START } from 'mcp-troupe/testing';
 *
 * const server = createScriptedServer();
 * const entry = { type: 'in-process', server, policy: HOST_POLICY } as const;
 * await using troupe = createTroupe({ servers: { files: entry }, cache: false });
 * await troupe.start();
 * const model = { ...HOST_START };
 * for (const command of hostCommands())
 *   if (command.check(model)) await command.run(model, { troupe, server, name: 'files' });
 * ```
 */
export function hostCommands<
  TModel extends HostModel = HostModel,
  THost extends HostUnderCommands = HostUnderCommands,
>(check?: (model: TModel, host: THost) => Promise<void> | void): readonly HostCommand<TModel, THost>[] {
  return ACTS.map(([name, mayHappen, act]) => ({
    check: mayHappen,
    run: async (model, host) => {
      await act(model, host);
      await agrees(name, model, host);
      await check?.(model, host);
    },
    toString: () => name,
  }));
}

const LIMIT_MS = 10_000;

/** A stopped server keeps no tools, and a failed one those that it had. */
async function agrees(name: string, { state, tools }: HostModel, host: HostUnderCommands): Promise<void> {
  const { troupe, name: server } = host;
  const shown = () => ({
    state: troupe.connection(server)?.status.state,
    ...(state === 'ready' && {
      tools: troupe.tools.filter((each) => each.server === server).map((each) => each.tool),
    }),
  });
  const expected = { state, ...(state === 'ready' && { tools }) };
  const isSo = (): boolean => canonicalJson(shown()) === canonicalJson(expected);
  const signal = AbortSignal.timeout(LIMIT_MS);
  await troupe.inside.until(isSo, signal).catch((cause: unknown) => {
    const found = `the troupe shows ${JSON.stringify(shown())}, and should show ${JSON.stringify(expected)}`;
    throw new Error(`After '${name}' ${found}.`, { cause });
  });
}
