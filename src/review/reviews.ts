/**
 * The reviews of all servers: whose lists they judge, what is told of it, and who is kept from what.
 *
 * W1. What is held is decided by the chart of each server alone; the mode says what comes of it. With `report` nothing is
 *     kept from anybody, so that lists of an earlier run can wait for their verdict until everything is started.
 * W2. What a filter of the entry keeps away is judged, but nobody is bothered with it.
 */
import type { StateValue } from 'xstate';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { ToolPrint } from '../../machines/policy/review.js';
import type { ReviewEmitted } from '../../machines/review.machine.js';
import { isAllowed, type ToolFilter } from '../catalog/filter.js';
import { cutText } from '../cut-text.js';
import { NotReadyError, UnknownToolError, type ToolHeldError } from '../errors.js';
import type { LifecycleEventBody, OfConnection } from '../lifecycle/event.js';
import type { Publisher } from '../lifecycle/publish.js';
import type { ReviewMode } from '../options.js';
import type { Clock } from '../ports.js';
import { doneWithin } from '../release.js';
import type { Mask } from '../secrets.js';
import { messageOf } from '../thrown.js';
import { changedFields } from './fingerprint.js';
import {
  heldError,
  outdatedApproval,
  whyHeld,
  type ToolToApprove,
  type HeldDefinition,
} from './held-tool.js';
import type { OwnReviewStore, ReviewedServer } from './review-store.js';
import { ServerReview } from './server-review.js';

/** A list can be other in as many places as it has tools; a person needs a few of them. */
const MOST_TOLD = 10;
/** Longest time that a start waits for the lists of an earlier run to be judged. */
const READY_LIMIT_MS = 1_000;
/** Longest time that is given to what has to be kept when the troupe closes. */
const CLOSE_LIMIT_MS = 2_000;

const NOTHING: ReadonlySet<string> = new Set();

type Told = Extract<LifecycleEventBody, { type: 'tool.held' | 'tool.approved' | 'diagnostic' }>;
/** Without the session that it is about. */
type Unaddressed = Told extends infer T ? (T extends Told ? Omit<T, keyof OfConnection> : never) : never;

export interface ReviewsPorts extends OwnReviewStore {
  readonly mode: ReviewMode;
  readonly clock: Clock;
  readonly publish: (event: LifecycleEventBody) => void;
  readonly mask: (server: string) => Mask;
  /** Strikes out the secrets that cannot stand in a definition by chance. */
  readonly echoMask: (server: string) => Mask;
  /** Whose tools those of a configured server are; undefined where it is no server that can be reached. */
  readonly target: (server: string) => ReviewedServer | undefined;
  readonly filter: (server: string) => ToolFilter;
  readonly generation: (server: string) => number;
  /** Something may be held, or not any more, that was told by no event. */
  readonly changed: () => void;
}

/** A list of tools, and whose it is; that of the present entry where nobody said so. */
interface Listed {
  readonly server: string;
  readonly of: ReviewedServer | undefined;
  readonly tools: readonly Tool[];
}

export class Reviews {
  readonly #ports: ReviewsPorts;
  readonly #servers = new Map<string, ServerReview>();
  /** Lists that are not judged yet, the oldest first. */
  #waiting: Listed[] = [];
  /** What the store gave to end its watch with; undefined before it was asked. */
  #watching: (() => void) | null | undefined;
  #hasBegun = false;
  #isClosed = false;

  constructor(ports: ReviewsPorts) {
    this.#ports = ports;
  }

  /** A server has listed its tools, or has none any more. `of` is whose they are, where its entry may be another by now. */
  listed(server: string, tools: readonly Tool[], of?: ReviewedServer): void {
    if (this.#ports.mode === 'off' || this.#isClosed) return;
    this.#waiting.push({ server, of, tools });
    if (this.#hasBegun || this.#holds) this.#judgeWaiting((each) => each.server === server);
  }

  /** The connections are started: what came before is judged now, one list in each turn of the event loop. */
  begin(): void {
    this.#hasBegun = true;
    this.#judgeNext();
  }

  /** Whose the tools are that the present entry of a server leads to. */
  target(server: string): ReviewedServer | undefined {
    return this.#ports.target(server);
  }

  /** Where the chart of a server's review stands; undefined before its first list, and where nothing is reviewed. */
  state(server: string): StateValue | undefined {
    return this.#servers.get(server)?.state;
  }

  /** The tools of a server that are kept from everybody; the same set until it changes. */
  heldBack(server: string): ReadonlySet<string> {
    return this.#holds ? (this.#servers.get(server)?.names ?? NOTHING) : NOTHING;
  }

  /** What a person has to look at, of all servers. */
  get held(): readonly HeldDefinition[] {
    if (!this.#holds || this.#isClosed) return [];
    return [...this.#servers.values()].flatMap(({ held }) => held).filter((each) => this.#isWanted(each));
  }

  /** Why a tool must not be called; undefined where it may. */
  whyHeld(server: string, tool: string): ToolHeldError | undefined {
    const held = this.#holds ? this.#servers.get(server)?.heldTool(tool) : undefined;
    return held && heldError(held, this.#ports.mask(server));
  }

  /** Resolves when the last list of a server is judged; undefined where nobody has to wait for that. */
  judged(server: string): Promise<void> | undefined {
    return this.#holds ? this.#servers.get(server)?.judged() : undefined;
  }

  /** See `Review.approve`. */
  async approve({ server, tool, fingerprint }: ToolToApprove): Promise<boolean> {
    if (this.#isClosed) throw new NotReadyError('The troupe is closed.', { server });
    this.#judgeWaiting();
    const review = this.#servers.get(server);
    await review?.judged();
    const keeping = review?.approve({ tool, fingerprint });
    if (keeping !== undefined) return keeping;
    const mask = this.#ports.mask(server);
    const held = review?.heldTool(tool);
    if (held !== undefined) throw outdatedApproval(held, mask);
    const told = mask(tool);
    throw new UnknownToolError(told, `No tool called '${told}' of '${server}' is held back.`, { server });
  }

  /** See `Review.settled`. */
  async settled(): Promise<void> {
    this.#judgeWaiting();
    await Promise.all([...this.#servers.values()].map((review) => review.settled()));
  }

  /** A server was removed; what was approved of it stays in the store, for when it comes back. */
  forget(server: string): void {
    this.#waiting = this.#waiting.filter((each) => each.server !== server);
    this.#servers.get(server)?.stop();
    this.#servers.delete(server);
  }

  /** From here on what is removed is forgotten. */
  follow(publisher: Pick<Publisher, 'onevent'>): void {
    publisher.onevent((event) => {
      if (event.type === 'connection.removed') this.forget(event.connection);
    });
  }

  /** Resolves when every list that there is was judged; the store is given a second for it. */
  async ready(): Promise<void> {
    const judging = [...this.#servers.keys()].flatMap((server) => this.judged(server) ?? []);
    if (judging.length > 0) await doneWithin(this.#ports.clock, READY_LIMIT_MS, Promise.all(judging));
  }

  /** Resolves when what was approved is kept, or was given enough time for it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endWatch();
    await doneWithin(this.#ports.clock, CLOSE_LIMIT_MS, this.settled());
    for (const review of this.#servers.values()) review.stop();
  }

  get #holds(): boolean {
    return this.#ports.mode === 'hold-changes';
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

  /** Another entry of the same name begins anew. */
  #reviewOf(server: string, target: ReviewedServer | undefined): ServerReview | undefined {
    const before = this.#servers.get(server);
    if (target === undefined || before?.server.hash === target.hash) return before;
    before?.stop();
    if (this.#watching === undefined) this.#watching = this.#watch();
    const { store, gone, clock, echoMask } = this.#ports;
    const review: ServerReview = new ServerReview(target, {
      store,
      gone,
      clock,
      mask: () => echoMask(server),
      moved: (told) => this.#moved(review, told),
    });
    this.#servers.set(server, review);
    return review;
  }

  /** Without it approvals from elsewhere count for the next start. */
  #watch(): (() => void) | null {
    try {
      const stop = this.#ports.store.watch?.((hash) => {
        for (const review of this.#servers.values()) if (review.server.hash === hash) review.storeChanged();
      });
      return typeof stop === 'function' ? stop : null;
    } catch (error) {
      this.#tellWatch('could not be watched', error);
      return null;
    }
  }

  /** What the store gave to end its watch is the host's. */
  #endWatch(): void {
    try {
      this.#watching?.();
    } catch (error) {
      this.#tellWatch('could not end its watch', error);
    }
  }

  #tellWatch(what: string, error: unknown): void {
    const why = messageOf(error);
    const message = cutText(`The store of approved tools ${what}: ${why}`);
    this.#ports.publish({ type: 'diagnostic', kind: 'review-problem', message });
  }

  #moved(review: ServerReview, told: readonly ReviewEmitted[]): void {
    const { server } = review.server;
    const held = new Set(told.flatMap((event) => (event.type === 'held' ? event.tool : [])));
    const definitions = review.held.filter((each) => held.has(each.tool) && this.#isWanted(each));
    if (this.#holds) this.#tellHeld(definitions);
    else this.#report(server, definitions);
    for (const event of told) {
      if (event.type === 'approved') this.#tellApproved(server, event);
      if (event.type === 'troubled') this.#tellTrouble(server, event.message);
    }
    if (this.#holds) this.#ports.changed();
  }

  #isWanted({ server, tool }: HeldDefinition): boolean {
    return isAllowed(tool, this.#ports.filter(server));
  }

  #tellHeld(held: readonly HeldDefinition[]): void {
    for (const { server, tool: raw, reason, fingerprint, approved, listed } of held) {
      const tool = this.#ports.mask(server)(raw);
      const fields = changedFields(approved, listed);
      this.#tell(server, { type: 'tool.held', tool, reason, fields, fingerprint });
    }
  }

  #report(server: string, held: readonly HeldDefinition[]): void {
    const mask = this.#ports.mask(server);
    const others = held.filter(({ reason }) => reason !== 'unknown');
    for (const { tool: raw, reason, approved, listed } of others.slice(0, MOST_TOLD)) {
      const tool = mask(raw);
      const why = whyHeld(reason, changedFields(approved, listed));
      this.#diagnose(server, 'tool-changed', `'${tool}' of '${server}': ${why}.`, tool);
    }
    const untold = others.length - MOST_TOLD;
    if (untold <= 0) return;
    this.#diagnose(server, 'tool-changed', `${untold} more tools of '${server}' are other than approved.`);
  }

  #tellApproved(server: string, { tool, fingerprint }: ToolPrint): void {
    this.#tell(server, { type: 'tool.approved', tool: this.#ports.mask(server)(tool), fingerprint });
  }

  #tellTrouble(server: string, why: string): void {
    const told = this.#ports.mask(server)(why);
    const message = `What was approved of the tools of '${server}' could not be read or kept: ${told}`;
    this.#diagnose(server, 'review-problem', message);
  }

  #diagnose(server: string, kind: string, message: string, tool?: string): void {
    const about = tool === undefined ? {} : { tool };
    this.#tell(server, { type: 'diagnostic', kind, message: cutText(message), ...about });
  }

  #tell(server: string, event: Unaddressed): void {
    this.#ports.publish({ ...event, connection: server, generation: this.#ports.generation(server) });
  }
}
