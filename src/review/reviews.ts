/**
 * `src/review` compares the tools of a server with those that a person accepted, and holds back those that differ. This
 * file holds the reviews of all servers: which lists they judge, what is published, and which tools are held.
 *
 * W1. Only the chart of each server decides which tools are held; the mode decides what follows. With `report` no tool
 *     is hidden, so cached lists can wait for their verdict until everything has started.
 * W2. The first list of a server that the troupe's own store does not know is accepted in any case. With `report`, it is judged
 *     only when something differs from it: until then, a connection has no review, and no fingerprints of its tools.
 * W3. Tools that the entry's filter hides are judged, but nothing is published about them.
 *
 * Longer than 300 lines because it is the only object that the runtime asks about reviews; its methods are short.
 */
import type { DiagnosticKind } from '../diagnostic-kind.js';
import type { StateValue } from 'xstate';
import type { Tool } from '../mcp/server-offers.js';
import type { ToolPrint } from '../../machines/policy/review.js';
import type { ReviewEmitted } from '../../machines/review/review.machine.js';
import { isAllowed, type ToolFilter } from '../config/entry/tool-filter.js';
import { cutText } from '../text/visible-text.js';
import { UnknownToolError, type ToolHeldError } from '../errors.js';
import type { LifecycleEventBody, ConnectionScoped } from '../lifecycle/event.js';
import type { Publisher } from '../lifecycle/publish.js';
import type { Lifetime } from '../lifecycle/lifetime.js';
import type { ReviewMode } from './review-option.js';
import type { Clock } from '../ports.js';
import { settlesWithin } from '../async/timers.js';
import type { Mask } from '../secrets/secrets.js';
import { messageOf } from '../text/error-message.js';
import { changedFields } from '../catalog/tool-fingerprint.js';
import {
  heldError,
  outdatedAcceptance,
  whyHeld,
  type ToolToAccept,
  type HeldDefinition,
} from './held-tool.js';
import type { OwnReviewStore } from './review-store.js';
import type { ReviewedServer } from '../catalog/catalogs.js';
import { ServerReview, type ServerReviewPorts } from './server-review.js';

/** Every tool of a list may differ; a few are enough for a person. */
const MAX_REPORTED = 10;
/** Longest time that a start waits for the lists of an earlier run to be judged. */
const READY_LIMIT_MS = 1_000;
/** Longest time for storing acceptances when the troupe closes. */
const CLOSE_LIMIT_MS = 2_000;

const NOTHING: ReadonlySet<string> = new Set();
/** The state of a review whose list is accepted. */
const NOTHING_HELD: StateValue = { judged: 'clear' };

type ReviewEventBody = Extract<LifecycleEventBody, { type: 'tool.held' | 'tool.accepted' | 'diagnostic' }>;
/** The event without its session. */
type Unaddressed = ReviewEventBody extends infer T
  ? T extends ReviewEventBody
    ? Omit<T, keyof ConnectionScoped>
    : never
  : never;

export interface ReviewsPorts extends OwnReviewStore {
  readonly mode: ReviewMode;
  readonly clock: Clock;
  readonly publish: (event: LifecycleEventBody) => void;
  readonly mask: (server: string) => Mask;
  /** Masks only secrets that cannot appear in a definition by chance. */
  readonly echoMask: (server: string) => Mask;
  /** The review target of a configured server; undefined if its entry cannot be started or reached. */
  readonly target: (server: string) => ReviewedServer | undefined;
  readonly filter: (server: string) => ToolFilter;
  readonly generation: (server: string) => number;
  readonly lifetime: Pick<Lifetime, 'isClosed' | 'hasStarted' | 'refuseClosed'>;
  /** Called when the held tools may have changed without an event. */
  readonly changed: () => void;
}

/** A list of tools, and the server that it belongs to. Default: the target of the present entry. */
interface Listed {
  readonly server: string;
  readonly of: ReviewedServer | undefined;
  readonly tools: readonly Tool[];
}

export class Reviews {
  readonly #ports: ReviewsPorts;
  readonly #servers = new Map<string, ServerReview>();
  /** Lists that wait for their judgment, the oldest first. */
  #waiting: Listed[] = [];
  /** First lists from which nothing differs so far (W2), by server. */
  readonly #first = new Map<string, Listed & { readonly of: ReviewedServer }>();
  /** The function that ends the store's watch; undefined before the watch was requested. */
  #watching: (() => void) | null | undefined;

  readonly #ofServers: ServerReviewPorts;

  constructor(ports: ReviewsPorts) {
    const { store, gone, clock, echoMask } = ports;
    this.#ports = ports;
    this.#ofServers = {
      store,
      gone,
      clock,
      mask: echoMask,
      moved: (review, events) => this.#moved(review, events),
    };
  }

  /**
   * A server has listed its tools, or its list was dropped. `of` is the target of the list, if the entry may have
   * changed since.
   */
  listed(server: string, tools: readonly Tool[], of?: ReviewedServer): void {
    const { mode, lifetime } = this.#ports;
    if (mode === 'off' || lifetime.isClosed) return;
    const target = of ?? this.target(server);
    const first = this.#first.get(server);
    if (first?.tools === tools && (first.of === target || first.of.hash === target?.hash)) return;
    if (first === undefined && target !== undefined && this.#isUnknown(server, target) && tools.length > 0) {
      this.#first.set(server, { server, of: target, tools });
      return;
    }
    this.#judgeFirst(server);
    this.#waiting.push({ server, of, tools });
    if (lifetime.hasStarted || this.#holds) this.#judgeWaiting((each) => each.server === server);
  }

  /** Call this when the connections are started: earlier lists are judged now, one in each turn of the event loop. */
  begin(): void {
    this.#judgeNext();
  }

  /** The review target of a server's present entry. */
  target(server: string): ReviewedServer | undefined {
    return this.#ports.target(server);
  }

  /** The state of a server's review; undefined before its first list, and if it is not reviewed. */
  state(server: string): StateValue | undefined {
    return this.#first.has(server) ? NOTHING_HELD : this.#servers.get(server)?.state;
  }

  /** Names of the hidden tools of a server; the same set until it changes. */
  heldBack(server: string): ReadonlySet<string> {
    return this.#holds ? (this.#servers.get(server)?.names ?? NOTHING) : NOTHING;
  }

  /** The held tools of all servers. */
  get held(): readonly HeldDefinition[] {
    if (!this.#holds || this.#ports.lifetime.isClosed) return [];
    return [...this.#servers.values()].flatMap(({ held }) => held).filter((each) => this.#isWanted(each));
  }

  /** Why a tool must not be called; undefined if it may be called. */
  whyHeld(server: string, tool: string): ToolHeldError | undefined {
    const held = this.#holds ? this.#servers.get(server)?.heldTool(tool) : undefined;
    return held && heldError(held, this.#ports.mask(server));
  }

  /** Resolves when the last list of a server is judged; undefined if there is nothing to wait for. */
  judged(server: string): Promise<void> | undefined {
    return this.#holds ? this.#servers.get(server)?.judged() : undefined;
  }

  /** See `Review.accept`. */
  async accept(wanted: ToolToAccept): Promise<boolean> {
    const { server, tool, fingerprint } = wanted;
    this.#judgeFirst(server);
    this.#judgeWaiting();
    const review = this.#servers.get(server);
    await review?.judged();
    this.#ports.lifetime.refuseClosed(server);
    if (review !== this.#servers.get(server)) return this.accept(wanted);
    const keeping = review?.accept({ tool, fingerprint });
    if (keeping !== undefined) return keeping;
    const mask = this.#ports.mask(server);
    const held = review?.heldTool(tool);
    if (held !== undefined) throw outdatedAcceptance(held, mask);
    const masked = mask(tool);
    throw new UnknownToolError(masked, `No tool called '${masked}' of '${server}' is held back.`, { server });
  }

  /** See `Review.idle`. */
  async idle(): Promise<void> {
    this.#judgeWaiting();
    await Promise.all([...this.#servers.values()].map((review) => review.idle()));
  }

  /** Forgets a removed server; its accepted tools stay in the store in case it comes back. */
  forget(server: string): void {
    this.#waiting = this.#waiting.filter((each) => each.server !== server);
    this.#first.delete(server);
    this.#servers.get(server)?.stop();
    this.#servers.delete(server);
  }

  /** From now on, removed servers are forgotten. */
  follow(publisher: Pick<Publisher, 'onevent'>): void {
    publisher.onevent((event) => {
      if (event.type === 'connection.removed') this.forget(event.server);
    });
  }

  /** Resolves when every present list was judged, or after a second. */
  async ready(): Promise<void> {
    const judging = [...this.#servers.keys()].flatMap((server) => this.judged(server) ?? []);
    if (judging.length > 0) await settlesWithin(this.#ports.clock, READY_LIMIT_MS, Promise.all(judging));
  }

  /** Resolves when acceptances are stored, or when the time for that is over. */
  async close(): Promise<void> {
    this.#endWatch();
    await settlesWithin(this.#ports.clock, CLOSE_LIMIT_MS, this.idle());
    for (const review of this.#servers.values()) review.stop();
  }

  get #holds(): boolean {
    return this.#ports.mode === 'hold-changes';
  }

  /** Whether its first list is still to come, and accepted in any case. */
  #isUnknown(server: string, target: ReviewedServer): boolean {
    const { knows } = this.#ports;
    return !this.#holds && !this.#servers.has(server) && knows?.(target) === false;
  }

  #judgeFirst(server: string): void {
    const first = this.#first.get(server);
    this.#first.delete(server);
    if (first !== undefined) this.#judge(first);
  }

  #judge({ server, of, tools }: Listed): void {
    this.#reviewOf(server, of ?? this.target(server))?.listed(tools);
  }

  readonly #judgeNext = (): void => {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#judge(next);
    setImmediate(this.#judgeNext);
  };

  #judgeWaiting(isMeant: (listed: Listed) => boolean = () => true): void {
    const meant = this.#waiting.filter(isMeant);
    this.#waiting = this.#waiting.filter((each) => !isMeant(each));
    for (const each of meant) this.#judge(each);
  }

  /** A different entry of the same name gets a new review. */
  #reviewOf(server: string, target: ReviewedServer | undefined): ServerReview | undefined {
    const before = this.#servers.get(server);
    if (target === undefined || before?.server.hash === target.hash) return before;
    before?.stop();
    if (this.#watching === undefined) this.#watching = this.#watch();
    const review = new ServerReview({ server: target.server, hash: target.hash }, this.#ofServers);
    this.#servers.set(server, review);
    return review;
  }

  /** Without a watch, acceptances of other processes count at the next start. */
  #watch(): (() => void) | null {
    try {
      const stop = this.#ports.store.watch?.((hash) => {
        for (const review of this.#servers.values()) if (review.server.hash === hash) review.storeChanged();
      });
      return typeof stop === 'function' ? stop : null;
    } catch (error) {
      this.#reportWatchProblem('could not be watched', error);
      return null;
    }
  }

  /** The function that ends the watch may be the host's code and throw. */
  #endWatch(): void {
    try {
      this.#watching?.();
    } catch (error) {
      this.#reportWatchProblem('could not end its watch', error);
    }
  }

  #reportWatchProblem(what: string, error: unknown): void {
    const why = messageOf(error);
    const message = cutText(`The store of accepted tools ${what}: ${why}`);
    this.#ports.publish({ type: 'diagnostic', kind: 'review-problem', message });
  }

  #moved(review: ServerReview, events: readonly ReviewEmitted[]): void {
    const { server } = review.server;
    const held = new Set(events.flatMap((event) => (event.type === 'held' ? event.tool : [])));
    if (held.size > 0) {
      const definitions = review.held.filter((each) => held.has(each.tool) && this.#isWanted(each));
      if (this.#holds) this.#reportHeld(definitions);
      else this.#report(server, definitions);
    }
    for (const event of events) {
      if (event.type === 'accepted') this.#reportAccepted(server, event);
      if (event.type === 'troubled') this.#reportTrouble(server, event.message);
    }
    if (this.#holds) this.#ports.changed();
  }

  #isWanted({ server, tool }: HeldDefinition): boolean {
    return isAllowed(tool, this.#ports.filter(server));
  }

  #reportHeld(held: readonly HeldDefinition[]): void {
    for (const { server, tool: raw, reason, fingerprint, accepted, listed } of held) {
      const tool = this.#ports.mask(server)(raw);
      const fields = changedFields(accepted, listed);
      this.#publish(server, { type: 'tool.held', tool, reason, fields, fingerprint });
    }
  }

  #report(server: string, held: readonly HeldDefinition[]): void {
    const mask = this.#ports.mask(server);
    const others = held.filter(({ reason }) => reason !== 'unknown');
    for (const { tool: raw, reason, accepted, listed } of others.slice(0, MAX_REPORTED)) {
      const tool = mask(raw);
      const why = whyHeld(reason, changedFields(accepted, listed));
      this.#diagnose(server, 'tool-changed', `'${tool}' of '${server}': ${why}.`, tool);
    }
    const omitted = others.length - MAX_REPORTED;
    if (omitted <= 0) return;
    this.#diagnose(
      server,
      'tool-changed',
      `${omitted} more tools of '${server}' differ from what was accepted.`,
    );
  }

  #reportAccepted(server: string, { tool, fingerprint }: ToolPrint): void {
    this.#publish(server, { type: 'tool.accepted', tool: this.#ports.mask(server)(tool), fingerprint });
  }

  #reportTrouble(server: string, why: string): void {
    const reason = this.#ports.mask(server)(why);
    const message = `The accepted tools of '${server}' could not be read or stored: ${reason}`;
    this.#diagnose(server, 'review-problem', message);
  }

  #diagnose(server: string, kind: DiagnosticKind, message: string, tool?: string): void {
    const about = tool === undefined ? {} : { tool };
    this.#publish(server, { type: 'diagnostic', kind, message: cutText(message), ...about });
  }

  #publish(server: string, event: Unaddressed): void {
    this.#ports.publish({ ...event, server, generation: this.#ports.generation(server) });
  }
}
