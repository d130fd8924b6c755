/**
 * The registry of everything live: transports, protocol clients and calls, by connection and generation. The folder
 * `sessions` is this registry and its parts.
 *
 * Owns every live thing from the moment it may exist until it is proven gone. Knows no lifecycle state: the machines
 * decide, and the registry obeys. Longer than 300 lines because a session and the registry that closes it change together;
 * the methods are short.
 *
 * S1. The entry exists before its transport is opened, so that a stop during `opening` finds it.
 * S2. `close` and `kill` never reject, are idempotent, and resolve when nothing of the session is left, or with the
 *     failure that says what could not be ended.
 * S3. A transport that arrives after its session began to close is refused; its opener closes it.
 * S4. Pending requests are settled before a close begins, and calls before a loss is reported.
 */
import type { ServerCapabilities } from '../mcp/session.js';
import type { ServerList, SessionKey } from '../../machines/connection/connection.events.js';
import type { LaunchPlan } from './launch-plans.js';
import { isAnswering, QuestionClocks, type PausableClock } from './question-clocks.js';
import type { ToolCheck } from '../catalog/tool-check.js';
import type { Listening, ProtocolClient } from '../protocol/protocol-client.js';
import { ListReads, PendingCalls, type PendingCall } from './session-activity.js';
import type { SessionTransport } from '../transports/session-transport.js';
import { TransportError, type RawFailure } from '../failures/transport-error.js';

const CLOSING: RawFailure = { code: 'connection-lost', message: 'The connection is being closed.' };

/** Why a session could not be ended completely; undefined if it was. */
export type Released = RawFailure | undefined;

/** What a session reports to its watcher. */
export type SessionSignal =
  | { readonly kind: 'lost'; readonly failure: RawFailure }
  /** `count` exchanges in a row have failed to reach the server. */
  | { readonly kind: 'unreachable'; readonly count: number; readonly failure: RawFailure }
  | { readonly kind: 'listChanged'; readonly list: ServerList }
  /** The time for which a list holds is over, and the server is in use. */
  | { readonly kind: 'stale'; readonly list: ServerList }
  /** The changes that the session wants to be notified of are different now. */
  | { readonly kind: 'interest' }
  /** The stream of changes has ended. */
  | { readonly kind: 'unheard' }
  /** A fault that does not prove a loss: the server should be pinged. */
  | { readonly kind: 'doubt' }
  /** A call timed out, and the server has been silent since it was sent. */
  | { readonly kind: 'overdue' }
  /** The session is being ended. This is the last signal. */
  | { readonly kind: 'ending' };

export interface SessionListener {
  heard(signal: SessionSignal): void;
}

/** One live transport and the protocol client on it. */
export class Session {
  client: ProtocolClient | undefined;
  capabilities: ServerCapabilities = {};
  /** The handshake is done. */
  isInitialized = false;
  /** The stream of changes that is open, if there is one. */
  listening: Listening | undefined;
  /** The tools that the server has listed, until they are adopted. */
  listed: ToolCheck | undefined;
  /** How many tools it listed last, whether or not they can be used; undefined if it refused to. */
  toolsListed: number | undefined;
  readonly listReads = new ListReads();
  /** Time of the last sign of life from the server, milliseconds since the epoch. */
  activeAt = 0;
  /** Time of the last call that ended, milliseconds since the epoch; 0 before the first. */
  usedAt = 0;
  #listener: SessionListener | undefined;
  /** Lists whose change was announced before anybody listened. */
  #undelivered: Set<ServerList> | undefined;
  /** Why the server seems to be gone although its transport has not ended. */
  #doubtful: RawFailure | undefined;
  #transport: SessionTransport | undefined;
  #isClosing = false;
  #isOver = false;
  /** Undefined until the first use, since most sessions are idle for most of the time; so are the next two. */
  #owed: PendingCalls | undefined;
  #questions: QuestionClocks | undefined;
  #idle: Set<() => void> | undefined;
  /** Undefined until somebody waits for it. */
  #gone: Promise<Released> | undefined;
  #resolveGone: ((left: Released) => void) | undefined;

  constructor(
    readonly key: SessionKey,
    readonly plan: LaunchPlan,
  ) {}

  get transport(): SessionTransport | undefined {
    return this.#transport;
  }

  /** What the server is known by: its address, or the command of its entry. Never published. */
  get place(): string {
    const url = this.#transport?.url;
    if (url !== undefined) return url;
    const { config } = this.plan;
    const { name } = this.key;
    return JSON.stringify('command' in config ? [name, config.command, config.args] : [name]);
  }

  /** Resolves when nothing of it is left. */
  get gone(): Promise<Released> {
    return (this.#gone ??= new Promise((resolve) => {
      this.#resolveGone = resolve;
    }));
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** It can carry a call: it is not over, being ended or lost. */
  get isUsable(): boolean {
    const isOver = this.#isOver || this.#isClosing || this.#transport?.ended !== undefined;
    return this.client !== undefined && !isOver;
  }

  /** Calls without an answer. */
  get calls(): number {
    return this.#owed?.calls ?? 0;
  }

  /** A call is in flight, or a question of the server is open. */
  get isBusy(): boolean {
    return this.calls > 0 || this.#questions?.areStill === true;
  }

  /** The server may be silent: it is busy with a call that has time left, or waits for the answer to a question. */
  get mayBeSilent(): boolean {
    return this.#questions?.areStill === true || this.#owed?.isAwaited(this.activeAt) === true;
  }

  /** Takes over a transport that was not started yet. Throws a `TransportError` if the session is closing. */
  own(transport: SessionTransport): void {
    if (this.#isClosing) throw new TransportError(CLOSING);
    this.#transport = transport;
    transport.onclose = () => {
      this.#isOver = true;
      this.client?.abandon(transport.ended ?? CLOSING);
      void this.#lose(transport);
    };
    transport.onsuspect = () => this.signal({ kind: 'doubt' });
    transport.onunreachable = (count, failure) => {
      this.#doubtful = failure;
      this.signal({ kind: 'unreachable', count, failure });
    };
  }

  /** Sets the only listener, until `unwatch` or the end of the session. */
  watch(listener: SessionListener): void {
    this.#listener = listener;
    const undelivered = this.#undelivered ?? [];
    this.#undelivered = undefined;
    for (const list of undelivered) listener.heard({ kind: 'listChanged', list });
  }

  unwatch(listener: SessionListener): void {
    if (this.#listener === listener) this.#listener = undefined;
  }

  signal(signal: SessionSignal): void {
    if (this.#listener !== undefined) this.#listener.heard(signal);
    // A list that is still to be read will include the change.
    else if (signal.kind === 'listChanged' && this.listReads.number(signal.list) > 0) {
      (this.#undelivered ??= new Set()).add(signal.list);
    }
  }

  beginCall(): PendingCall {
    this.#owed ??= new PendingCalls();
    return this.#owed.begin(this.activeAt);
  }

  /** `isTooLate`: it ended because its time was over. */
  endCall(call: PendingCall, at: number, isTooLate: boolean): void {
    const isOverdue = this.#owed?.end(call, this.activeAt, isTooLate) === true;
    this.usedAt = at;
    if (this.calls === 0) for (const resolve of this.#idle ?? []) resolve();
    if (isOverdue) this.signal({ kind: 'overdue' });
    for (const list of this.listReads.takeStale(at)) this.signal({ kind: 'stale', list });
  }

  /** The server has asked a person or a model of the host: until the answer, the clocks of calls stand still. */
  beginQuestion(): void {
    this.#clocks.begin();
  }

  endQuestion(at: number): void {
    this.usedAt = at;
    this.#clocks.end();
  }

  /** Stops a clock during questions, until the returned function is called. The clock of a call that answers one runs on. */
  pauseDuringQuestions(clock: PausableClock): () => void {
    return isAnswering(this.key.name) ? () => {} : this.#clocks.hold(clock);
  }

  /** Resolves when no call is in flight, or when the signal aborts. */
  async idle(signal?: AbortSignal): Promise<void> {
    if (this.calls === 0 || signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        signal?.removeEventListener('abort', done);
        this.#idle?.delete(done);
        resolve();
      };
      this.#idle ??= new Set();
      this.#idle.add(done);
      signal?.addEventListener('abort', done, { once: true });
    });
  }

  close(): Promise<Released> {
    const { gone } = this;
    if (!this.#isClosing) void this.#end((transport) => transport.close());
    return gone;
  }

  kill(): Promise<Released> {
    const { gone } = this;
    void this.#end((transport) => transport.kill());
    return gone;
  }

  /** It may not go on: it is lost for that reason, and killed. */
  expire(failure: RawFailure): Promise<Released> {
    this.client?.abandon(failure);
    if (!this.#isClosing && !this.#isOver) {
      this.#doubtful = failure;
      this.signal({ kind: 'lost', failure });
    }
    return this.kill();
  }

  get #clocks(): QuestionClocks {
    return (this.#questions ??= new QuestionClocks());
  }

  /** Every call was rejected. The loss is reported when all have settled. */
  async #lose(transport: SessionTransport): Promise<void> {
    await this.idle();
    this.signal({ kind: 'lost', failure: transport.ended ?? CLOSING });
  }

  /** A transport that fails to close is killed; one that cannot even be killed is never proven gone. */
  async #end(how: (transport: SessionTransport) => Promise<void>): Promise<void> {
    this.#isClosing = true;
    this.signal({ kind: 'ending' });
    this.#listener = undefined;
    const transport = this.#transport;
    this.client?.abandon(transport?.ended ?? this.#doubtful ?? CLOSING);
    try {
      if (transport !== undefined) await how(transport).catch(() => transport.kill());
      this.#resolveGone?.(transport?.ended?.code === 'not-released' ? transport.ended : undefined);
    } catch {
      // Code that waits for the end has its own limit.
    }
  }
}

const NO_SESSIONS: readonly Session[] = [];

export class Sessions {
  readonly #live = new Map<string, readonly Session[]>();

  /** Sessions that are not proven gone. */
  get size(): number {
    let size = 0;
    for (const sessions of this.#live.values()) size += sessions.length;
    return size;
  }

  begin(key: SessionKey, plan: LaunchPlan): Session {
    const session = new Session(key, plan);
    this.#live.set(key.name, [...this.#of(key.name), session]);
    return session;
  }

  get(key: SessionKey): Session | undefined {
    for (const session of this.#of(key.name)) if (session.key.generation === key.generation) return session;
    return undefined;
  }

  /** The sessions that take messages. */
  get usable(): readonly Session[] {
    return [...this.#live.values()].flat().filter((session) => session.isUsable && session.isInitialized);
  }

  /** Closes every session of a connection. See S2. */
  async close(name: string): Promise<Released> {
    return this.#end(this.#of(name), (session) => session.close());
  }

  /** Closes one session. See S2. */
  async closeOne(key: SessionKey): Promise<Released> {
    const session = this.get(key);
    return this.#end(session === undefined ? [] : [session], (one) => one.close());
  }

  /** Closes every session of a connection except the one of that generation; null: every one. See S2. */
  async closeAllBut(name: string, generation: number | null): Promise<Released> {
    const others = this.#of(name).filter((session) => session.key.generation !== generation);
    return this.#end(others, (session) => session.close());
  }

  /** Ends every session of a connection without courtesy. See S2. */
  async kill(name: string): Promise<Released> {
    return this.#end(this.#of(name), (session) => session.kill());
  }

  /** Ends every session of a connection at once, as lost for that reason. See S2. */
  async expire(name: string, failure: RawFailure): Promise<Released> {
    return this.#end(this.#of(name), (session) => session.expire(failure));
  }

  /** Resolves when no call of the connection is in flight, or when the signal aborts. */
  async idle(name: string, signal: AbortSignal): Promise<void> {
    await Promise.all(this.#of(name).map((session) => session.idle(signal)));
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#live.keys()].map((name) => this.close(name)));
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#live.keys()].map((name) => this.kill(name)));
  }

  #of(name: string): readonly Session[] {
    return this.#live.get(name) ?? NO_SESSIONS;
  }

  async #end(sessions: readonly Session[], end: (session: Session) => Promise<Released>): Promise<Released> {
    const released = await Promise.all(
      sessions.map(async (session) => {
        const left = await end(session);
        this.#forget(session);
        return left;
      }),
    );
    return released.find((left) => left !== undefined);
  }

  #forget(session: Session): void {
    const { name } = session.key;
    const others = this.#of(name).filter((each) => each !== session);
    if (others.length === 0) this.#live.delete(name);
    else this.#live.set(name, others);
  }
}
