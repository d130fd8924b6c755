/**
 * Walks a path of the connection chart with real servers: each event becomes an order to a scripted server, a command of the
 * host, or the passing of time. Transports, processes, requests and the host itself are real.
 *
 * Effects wait for the walk (`held-connection.ts`), so no transition depends on which of two things is faster. Longer than 300
 * lines because it documents the public function, and a step needs the state of the whole walk.
 */
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import type { EventObject } from 'xstate';
import type { ConnectionEvent } from '../../../machines/connection/connection.events.js';
import type { ConnectionMachine } from '../../../machines/connection/connection.machine.js';
import { publicState } from '../../../machines/connection/public-state.js';
import { classify, toFailure } from '../../../machines/policy/failure.js';
import { canonicalJson } from '../../json/write-json.js';
import type { ServerStatus } from '../../lifecycle/status.js';
import type { Troupe } from '../../runtime/troupe.js';
import type { Connection } from '../../servers/connection.js';
import { requireKnown } from '../../text/option-names.js';
import { MODEL_START } from '../connection-model.js';
import type { EdgePath } from '../edge-paths.js';
import type { ScriptedProgramOptions } from '../scripted-program.js';
import type { HostUnderTest, WalkedStep } from '../walk-host.js';
import { causeOf, type Cause, type CausedBy, type Reach } from './causes.js';
import { HeldConnection, type Ended } from './held-connection.js';
import { slotOf } from './server-model.js';
import { createWalkClock, type WalkClock } from './walk-clock.js';
import { asksForSignIn, NOBODY, reachesOf, reachOf, scriptFor } from './walk-plan.js';
import { WalkServers } from './walk-servers.js';

/** Options of `walkWithServers`. */
export interface ServerWalkOptions extends ScriptedProgramOptions {
  /** How long each step may take, in real milliseconds. Default 30,000. */
  readonly waitMs?: number;
}

/**
 * Walks one path of `edgePaths(model.machine, model)` of `serverModel()` through a troupe of the host, with real scripted servers:
 * child processes, HTTP on the loopback interface, or, in the new era, this process. After each step, the status must be the
 * one that the path expects. The troupe and the servers are closed at the end.
 *
 * @param path The path.
 * @param host Makes the troupe with all options of the walk, and checks what the host shows.
 * @param options Limits, and the program that runs as a child process. Default: the program of this package.
 *
 * @returns Who made the last event of the path happen, and so took its transition.
 *
 * @throws `Error` if the status is another one than the path says, with the step and what the server received, or what `check`
 * throws.
 * @throws `TypeError` for an unknown option.
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 * import { edgePaths, serverModel, transitionCoverage, walkWithServers } from 'mcp-troupe/testing';
 *
 * const model = serverModel();
 * const coverage = transitionCoverage();
 * for (const path of edgePaths(model.machine, model).paths)
 *   await walkWithServers(path, { coverage, open: (options) => createTroupe({ ...options }) });
 * console.log(coverage.summary);
 * ```
 */
export async function walkWithServers(
  path: EdgePath<ConnectionMachine>,
  host: HostUnderTest,
  options: ServerWalkOptions = {},
): Promise<CausedBy> {
  const { waitMs = 30_000, ...program } = options;
  requireKnown('walkWithServers', options, { waitMs: true, main: true, node: true });
  const servers = await WalkServers.start(reachesOf(path), scriptFor(path), program);
  try {
    const walk = new ServerWalk(path, host, servers, waitMs);
    return await walk.run();
  } finally {
    await servers.close();
  }
}

/** Real milliseconds between two looks. */
const LOOK_MS = 1;
/** How much faster the clock is than real time. An effect that starts something keeps its whole limit. */
const AS_REAL = 1;
const FASTER = 4;
/** Longest real time that counts for one look: a busy machine must not exceed a limit. */
const MAX_LOOK_MS = 20;
/** A close may take seconds of the clock, and has no limit that a walk could exceed by mistake. */
const FASTER_CLOSING = 50;
/** Looks after which a server repeats what it was ordered to announce. */
const REPEATED_AFTER = 40;
/** Turns in which a command of the host reaches the connection, if it does. */
const TURNS_OF_COMMAND = 4;
/** An effect has at most so many limits one after the other, and needs so many turns of promises to set the next one. */
const STEPS = 4;
const MICROTASKS = 64;
const CLOSES = /Session$|^release|^retire|^discard/;
/** Real milliseconds in which a reply arrives that has been sent. */
const REPLY_MS = 60;
const MAX_SHOWN = 12;

class ServerWalk {
  readonly #path: EdgePath<ConnectionMachine>;
  readonly #host: HostUnderTest;
  readonly #servers: WalkServers;
  readonly #waitMs: number;
  readonly #clock: WalkClock = createWalkClock(MODEL_START);
  readonly #held: HeldConnection;
  readonly #troupe: Troupe;
  #step = 'The start';

  constructor(path: EdgePath<ConnectionMachine>, host: HostUnderTest, servers: WalkServers, waitMs: number) {
    this.#path = path;
    this.#host = host;
    this.#servers = servers;
    this.#waitMs = waitMs;
    this.#held = new HeldConnection(path.input, host.coverage);
    this.#troupe = host.open({
      servers: { [path.input.name]: servers.entry(reachOf(path.input.transport, path)) },
      machines: { connection: this.#held.adapt },
      clock: this.#clock,
      cache: false,
      ...(asksForSignIn(path) && { auth: NOBODY }),
    });
  }

  async run(): Promise<CausedBy> {
    let by: CausedBy = 'troupe';
    try {
      await this.#start();
      await this.#reached(undefined, this.#path.start);
      for (const [index, { event, state }] of this.#path.steps.entries()) {
        this.#step = `Step ${index + 1} ('${event.type}')`;
        by = await this.#perform(event);
        await this.#reached(event, state);
      }
      return by;
    } finally {
      await this.#close();
    }
  }

  async #start(): Promise<void> {
    if (!this.#path.input.online) this.#troupe.setOnline(false);
    let isStarted = false;
    const over = (): void => void (isStarted = true);
    this.#troupe.start().then(over, over);
    while (!this.#held.hasBegun || this.#status === undefined) {
      if (isStarted)
        throw new Error('The troupe does not start its server. Pass on all options of the walk.');
      await turn();
    }
  }

  get #status(): ServerStatus | undefined {
    return this.#troupe.status.find(({ server }) => server === this.#path.input.name);
  }

  get #reach(): Reach {
    const { transport, next } = this.#held.actor.getSnapshot().context;
    return reachOf(next?.transport ?? transport, this.#path);
  }

  get #connection(): Connection | undefined {
    return this.#troupe.connection(this.#path.input.name);
  }

  async #perform(event: EventObject): Promise<CausedBy> {
    const slot = slotOf(this.#held.actor.getSnapshot(), event);
    const cause = causeOf(event, slot, this.#reach);
    if (cause === undefined) throw new Error(`${this.#step}: nothing outside of Troupe causes this event.`);
    this.#held.forgetFacts();
    if (cause.calls !== undefined && slot !== undefined) await this.#heardNow();
    if (cause.on !== undefined || cause.script !== undefined) await this.#servers.behave(cause);
    if (slot !== undefined) await this.#endEffect(event, cause);
    else if (cause.by === 'server') await this.#report(event, cause);
    else if (cause.by === 'host') await this.#command(event as ConnectionEvent);
    else this.#held.send(event);
    if (cause.on !== undefined || cause.script !== undefined) await this.#servers.behave({});
    if (cause.order?.listening === false) await this.#servers.send({ listening: true }, this.#reach);
    return cause.by;
  }

  /** Lets an effect run against the server that has its orders, or ends one that has nothing to run against. */
  async #endEffect(event: EventObject, cause: Cause): Promise<void> {
    const id = event.type.replace(/^xstate\.(?:done|error)\.actor\./, '');
    await this.#until(() => this.#held.isWaiting(id), `the effect '${id}' does not begin`);
    const expected: Ended =
      'error' in event ? { error: event.error } : { output: (event as { output?: unknown }).output };
    if (cause.isGiven === true) return this.#held.give(id, expected);
    const end: { how?: Ended } = {};
    const limitMs = this.#held.limitOf(id);
    if (cause.calls === undefined) this.#held.begin(id, (how) => (end.how = how));
    else await this.#refusedMeanwhile(() => this.#held.begin(id, (how) => (end.how = how)));
    for (let steps = 0; cause.isExpired === true && end.how === undefined && steps < STEPS; steps += 1) {
      this.#clock.pass(limitMs);
      for (let turns = 0; turns < MICROTASKS; turns += 1) await Promise.resolve();
    }
    const faster = CLOSES.test(id) ? FASTER_CLOSING : cause.calls === undefined ? AS_REAL : FASTER;
    await this.#until(() => end.how !== undefined, `the effect '${id}' does not end`, faster);
    const found = end.how as Ended;
    const isOver = cause.isExpired === true && 'error' in found && 'error' in expected;
    if (!isOver && outcome(found) !== outcome(expected))
      throw this.#error(
        `the effect '${id}' ended with ${told(found)}, and should end with ${told(expected)}`,
      );
  }

  /** The server answers a call, so that no later answer within the same millisecond counts as a sign of life. */
  async #heardNow(): Promise<void> {
    let isAnswered = false;
    this.#connection?.callTool('echo', {}).then(
      () => (isAnswered = true),
      () => {},
    );
    await this.#until(() => isAnswered, 'no call is answered', 0);
  }

  /** Begins an effect, and makes a call that is refused while the server owes an answer to the effect. */
  async #refusedMeanwhile(begin: () => void): Promise<void> {
    const { length } = this.#servers.received;
    begin();
    await this.#until(() => this.#servers.received.length > length, 'no request arrives', 0);
    this.#call();
    await this.#until(() => this.#servers.received.length > length + 1, 'no call arrives', 0);
    await pause(REPLY_MS);
  }

  /** Gives an order, and waits for what the session reports then. */
  async #report(event: EventObject, { order, calls = 0 }: Cause): Promise<void> {
    const reach = this.#reach;
    if (order !== undefined) await this.#servers.send(order, reach);
    for (let call = 0; call < calls; call += 1) this.#call();
    let looks = 0;
    await this.#until(() => {
      looks += 1;
      const isRepeated = looks % REPEATED_AFTER === 0 && (order?.send ?? order?.tools) !== undefined;
      if (isRepeated && order !== undefined) void this.#servers.send(order, reach);
      if (looks % REPEATED_AFTER === 0 && calls > 0) this.#call();
      return this.#held.factLike(event) !== undefined;
    }, `the session does not report '${event.type}'`);
    this.#held.send(this.#held.factLike(event) ?? event);
  }

  #call(): void {
    this.#connection?.callTool('echo', {}).catch(() => {});
  }

  /** A command that the host refuses in this state has no effect there, and goes to the chart itself. */
  async #command(event: ConnectionEvent): Promise<void> {
    this.#held.expect(event);
    try {
      this.#tell(event);
    } catch {
      // The host says why it has no effect.
    }
    for (let turns = 0; this.#held.isExpecting && turns < TURNS_OF_COMMAND; turns += 1) await turn();
    if (this.#held.isExpecting) this.#held.send(event);
  }

  #tell(event: ConnectionEvent): void {
    const connection = this.#connection;
    const ignore = (): void => {};
    switch (event.type) {
      case 'connection.start':
      case 'connection.retry':
      case 'connection.restart':
      case 'connection.refresh':
        return void connection?.dispatch({ type: event.type });
      case 'connection.stop':
        return void connection?.stop().catch(ignore);
      case 'connection.reload': {
        const entry = this.#servers.entry(reachOf(event.transport, this.#path));
        return void this.#troupe.reload({ [this.#path.input.name]: entry }).catch(ignore);
      }
      case 'trust.granted':
        return void connection?.trust().catch(ignore);
      case 'trust.denied':
        return connection?.deny();
      case 'network.online':
      case 'network.offline':
        return this.#troupe.setOnline(event.type === 'network.online');
      case 'call.waiting':
        return this.#call();
      case 'subscription.wanted':
        return void connection?.subscribe('file:///walked').catch(ignore);
      default:
        return undefined;
    }
  }

  /** Waits for the state and the status that follow a step, then lets the host check what it shows. */
  async #reached(event: WalkedStep['event'], state: EdgePath['start']): Promise<void> {
    const expected = publicState(state);
    const shown = (): string => `'${this.#status?.state}' ('${this.#status?.substate}')`;
    const isReached = (): boolean =>
      canonicalJson(this.#held.actor.getSnapshot().value) === canonicalJson(state) &&
      this.#status?.state === expected.state &&
      this.#status.substate === expected.substate;
    await this.#until(
      isReached,
      () => `the status is ${shown()}, and should be '${expected.state}' ('${expected.substate}')`,
    );
    const status = this.#status as ServerStatus;
    await this.#host.check?.({ event, status, troupe: this.#troupe });
  }

  async #until(isSo: () => boolean, problem: string | (() => string), faster = FASTER): Promise<void> {
    const end = performance.now() + this.#waitMs;
    for (let turns = 0; !isSo(); turns += 1) {
      if (performance.now() > end) throw this.#error(typeof problem === 'string' ? problem : problem());
      if (turns < TURNS_OF_COMMAND) await turn();
      else await this.#look(faster);
    }
  }

  async #look(faster: number): Promise<void> {
    const began = performance.now();
    await pause(LOOK_MS);
    this.#clock.pass(Math.ceil(Math.min(performance.now() - began, MAX_LOOK_MS) * faster));
  }

  #error(problem: string): Error {
    const seen = this.#servers.received
      .slice(-MAX_SHOWN)
      .map(({ session, method }) => `${session}: ${method}`);
    const { title } = this.#path;
    return new Error(
      `${this.#step} of '${title}': ${problem}. The server has received, by session: ${seen.join(', ') || 'nothing'}.`,
    );
  }

  async #close(): Promise<void> {
    await this.#servers.behave({}).catch(() => {});
    this.#held.letGo();
    const closed = { isOver: false };
    const closing = this.#troupe.close().finally(() => (closed.isOver = true));
    while (!closed.isOver) await this.#look(FASTER_CLOSING);
    await closing;
  }
}

/** As far as the chart distinguishes ends of an effect. */
function outcome(ended: Ended): string {
  return 'error' in ended ? classify(toFailure(ended.error)) : 'done';
}

function told(ended: Ended): string {
  if ('output' in ended) return 'success';
  const { code, message } = toFailure(ended.error);
  return `'${code}' (${message})`;
}
