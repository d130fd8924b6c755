/**
 * The registry of everything live: transports, protocol clients and calls, by connection and generation.
 *
 * Owns every live thing from the moment it may exist until it is proven gone. Knows no lifecycle state: the machines
 * decide, this obeys.
 *
 * S1. The entry exists before its transport is opened, so that a stop during `opening` finds it.
 * S2. `close` and `kill` never reject, are idempotent, and resolve when nothing of the session is left, or with the
 *     failure that says what could not be ended.
 * S3. A transport that arrives after its session was told to close is refused; its opener closes it.
 * S4. Pending requests are settled before a close begins, and calls before a loss is told.
 */
import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { ExtraList, SessionKey } from '../machines/connection.events.js';
import type { ConnectionPolicy } from '../machines/policy/policy.js';
import { isAnswering } from './answering.js';
import type { ToolCheck } from './catalog/tool-check.js';
import type { Clock } from './ports.js';
import type { ProtocolClient } from './protocol/protocol-client.js';
import { doneWithin } from './release.js';
import { OwedAnswers, type OwedCall } from './owed-answers.js';
import { QuestionClocks, type PausableClock } from './question-clocks.js';
import type { ReviewedServer } from './review/review-store.js';
import { TransportError, type RawFailure, type SessionTransport } from './transports/session-transport.js';

const CLOSING: RawFailure = { code: 'connection-lost', message: 'The connection is being closed.' };

/** What survived the end of a session; undefined where nothing did. */
export type Released = RawFailure | undefined;

/** One live transport and the protocol client on it. */
export class Session {
  client: ProtocolClient | undefined;
  capabilities: ServerCapabilities = {};
  /** The handshake is done. */
  isInitialized = false;
  /** Under what its list of tools is cached; undefined where it is not. */
  cacheKey: string | undefined;
  /** Whose tools a review takes its list for; undefined where there is none. */
  reviewed: ReviewedServer | undefined;
  /** Its tools, where it was brought up beside the session in use and has not replaced it yet. */
  prepared: ToolCheck | undefined;
  /** Time of the last sign of life from the server, milliseconds since the epoch. */
  activeAt = 0;
  /** Time of the last call that ended, milliseconds since the epoch; 0 before the first. */
  usedAt = 0;
  onlost: ((failure: RawFailure) => void) | undefined;
  onlistchanged: ((list: 'tools' | ExtraList) => void) | undefined;
  /** See `SessionTransport.ondoubt`. */
  ondoubt: (() => void) | undefined;
  /** A call was given up because its time was over, and nothing was heard since it was sent. */
  onoverdue: (() => void) | undefined;
  /** Called when the numbers of its entry have changed. */
  onretuned: ((policy: ConnectionPolicy) => void) | undefined;
  /** Called when the end begins, whoever asked for it: an actor that died watches no more. */
  onend: (() => void) | undefined;
  #transport: SessionTransport | undefined;
  #isClosing = false;
  #isOver = false;
  /** Undefined until the first call, as most sessions are idle for most of the time; so are the next two. */
  #owed: OwedAnswers | undefined;
  #questions: QuestionClocks | undefined;
  #idle: Set<() => void> | undefined;
  #lastCalls: Promise<unknown> | undefined;
  #tellGone!: (left: Released) => void;
  /** Resolves when the session is over for good, whichever way was the first to get there. */
  readonly #gone = new Promise<Released>((resolve) => {
    this.#tellGone = resolve;
  });

  constructor(readonly key: SessionKey) {}

  get transport(): SessionTransport | undefined {
    return this.#transport;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** It can carry a call: it is neither over nor being ended, nor known to be lost. */
  get isUsable(): boolean {
    const isOver = this.#isOver || this.#isClosing || this.#transport?.ended !== undefined;
    return this.client !== undefined && !isOver;
  }

  /** Calls without an answer. */
  get calls(): number {
    return this.#owed?.calls ?? 0;
  }

  /** A call is in flight, or a person or a model of the host is asked. */
  get isBusy(): boolean {
    return this.calls > 0 || this.#questions?.areStill === true;
  }

  /** The server may be silent: it is busy with a call that has time left, or waits for a person or a model of the host. */
  get maySayNothing(): boolean {
    return this.#questions?.areStill === true || this.#owed?.isOwed(this.activeAt) === true;
  }

  /** Takes over a transport that was not started yet. Throws a `TransportError` when the session is closing. */
  own(transport: SessionTransport): void {
    if (this.#isClosing) throw new TransportError(CLOSING);
    this.#transport = transport;
    transport.onclose = () => {
      this.#isOver = true;
      void this.#lose(transport);
    };
  }

  beginCall(): OwedCall {
    this.#owed ??= new OwedAnswers();
    return this.#owed.begin(this.activeAt);
  }

  /** `isTooLate`: it ended because its time was over. */
  endCall(call: OwedCall, at: number, isTooLate: boolean): void {
    const isOverdue = this.#owed?.end(call, this.activeAt, isTooLate) === true;
    this.usedAt = at;
    if (this.calls === 0) for (const resolve of this.#idle ?? []) resolve();
    if (isOverdue) this.onoverdue?.();
  }

  /** The server has asked a person or a model of the host: until the answer, no clock of a call goes on. */
  beginQuestion(): void {
    this.#clocks.begin();
  }

  endQuestion(at: number): void {
    this.usedAt = at;
    this.#clocks.end();
  }

  /** Has a clock stand still during questions, until the returned function is called; not that of an answer to one. */
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

  /** It gets no more calls: resolves when those it has are over, `ms` after this was asked for first at the latest. */
  finishCalls(clock: Clock, ms: number): Promise<unknown> {
    return (this.#lastCalls ??= doneWithin(clock, ms, this.idle()));
  }

  /** Resolves when the last calls are over, at once where it was not asked to finish them. */
  async callsFinished(): Promise<void> {
    await this.#lastCalls;
  }

  close(): Promise<Released> {
    if (!this.#isClosing) void this.#end((transport) => transport.close());
    return this.#gone;
  }

  kill(): Promise<Released> {
    void this.#end((transport) => transport.kill());
    return this.#gone;
  }

  get #clocks(): QuestionClocks {
    return (this.#questions ??= new QuestionClocks());
  }

  /** The client has rejected every call by now; the loss is told when each has settled. */
  async #lose(transport: SessionTransport): Promise<void> {
    await this.idle();
    this.onlost?.(transport.ended ?? CLOSING);
  }

  /** A transport that fails to close is killed; one that cannot even be killed is never proven gone. */
  async #end(how: (transport: SessionTransport) => Promise<void>): Promise<void> {
    this.#isClosing = true;
    this.onend?.();
    this.onlost = undefined;
    this.onlistchanged = undefined;
    this.ondoubt = undefined;
    this.onoverdue = undefined;
    const transport = this.#transport;
    this.client?.abandon(transport?.ended ?? CLOSING);
    try {
      if (transport !== undefined) await how(transport).catch(() => transport.kill());
      this.#tellGone(transport?.ended?.code === 'not-released' ? transport.ended : undefined);
    } catch {
      // Whoever waits for the end has a limit of his own.
    }
  }
}

export class Sessions {
  readonly #live = new Map<string, Set<Session>>();

  /** Sessions that are not proven gone. */
  get size(): number {
    let size = 0;
    for (const sessions of this.#live.values()) size += sessions.size;
    return size;
  }

  begin(key: SessionKey): Session {
    const session = new Session(key);
    const sessions = this.#live.get(key.name);
    if (sessions === undefined) this.#live.set(key.name, new Set([session]));
    else sessions.add(session);
    return session;
  }

  get(key: SessionKey): Session | undefined {
    for (const session of this.#live.get(key.name) ?? []) {
      if (session.key.generation === key.generation) return session;
    }
    return undefined;
  }

  /** Those that take messages. */
  get usable(): readonly Session[] {
    const all = [...this.#live.values()].flatMap((sessions) => [...sessions]);
    return all.filter((session) => session.isUsable && session.isInitialized);
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

  /** Closes every session of a connection but one. See S2. */
  async closeOthers(key: SessionKey): Promise<Released> {
    return this.#end(this.#others(key), (session) => session.close());
  }

  /** Resolves when every session of a connection but one has finished the calls that it was to finish. */
  async othersFinished(key: SessionKey): Promise<void> {
    await Promise.all(this.#others(key).map((session) => session.callsFinished()));
  }

  /** Ends every session of a connection without courtesy. See S2. */
  async kill(name: string): Promise<Released> {
    return this.#end(this.#of(name), (session) => session.kill());
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

  #of(name: string): Session[] {
    return [...(this.#live.get(name) ?? [])];
  }

  #others({ name, generation }: SessionKey): Session[] {
    return this.#of(name).filter((session) => session.key.generation !== generation);
  }

  async #end(sessions: Session[], end: (session: Session) => Promise<Released>): Promise<Released> {
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
    const sessions = this.#live.get(session.key.name);
    sessions?.delete(session);
    if (sessions?.size === 0) this.#live.delete(session.key.name);
  }
}
