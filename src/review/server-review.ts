/**
 * The review of one server: runs its chart, keeps the definitions of the fingerprints, and asks the store. Longer than
 * 300 lines because the chart, its effects and the definitions share one state.
 *
 * V1. A tool is held until it was judged. If the chart has crashed because of an internal error, every tool is held.
 * V2. A question to the store always ends: it fails if it takes too long.
 * V3. A fingerprint is computed from the tool as its server has it. Stored and shown definitions hold no secret of the
 *     entry.
 * V4. An actor exists only during an event and while the store is asked. At rest there is only a small snapshot, and no
 *     definition that the list has.
 */
import {
  createActor,
  type ActorRefFrom,
  type AnyActorRef,
  type SnapshotFrom,
  type StateValue,
  fromPromise,
} from 'xstate';
import type { Tool } from '../mcp/server-offers.js';
import { hasPrint, heldOf, type ToolPrint, type ReviewedTool } from '../../machines/policy/review.js';
import {
  reviewMachine,
  type KeepAcceptedInput,
  type KeepAcceptedOutput,
  type RecallBaselineInput,
  type RecallBaselineOutput,
  type ReviewEmitted,
  type ReviewEvent,
  type ReviewTrouble,
} from '../../machines/review/review.machine.js';
import { verdict } from '../../machines/verdict.js';
import { isObject } from '../config/entry/read-shape.js';
import type { Clock } from '../ports.js';
import { maskJson, NO_MASK, type Mask } from '../secrets/secrets.js';
import { messageOf } from '../text/error-message.js';
import { fingerprint, toReviewed } from '../catalog/tool-fingerprint.js';
import type { HeldDefinition } from './held-tool.js';
import type { OwnReviewStore, RememberedTool } from './review-store.js';
import type { ReviewedServer } from '../catalog/catalogs.js';
import { withinLimit } from '../async/timers.js';

export interface ServerReviewPorts extends OwnReviewStore {
  readonly clock: Clock;
  /** Masks the secrets of a server's entry, which it may repeat in a definition. */
  readonly mask: (server: string) => Mask;
  /** Called with the events that the chart emitted, once for each step, when the chart is at rest. */
  readonly moved: (review: ServerReview, emitted: readonly ReviewEmitted[]) => void;
}

type ReviewSystem = AnyActorRef['system'];
/** The part of a snapshot that describes the state of a chart. */
type ReviewSnapshot = Pick<SnapshotFrom<typeof reviewMachine>, 'status' | 'value' | 'context' | 'tags'>;

const NONE: ReadonlySet<string> = new Set();
const NOTHING: readonly never[] = [];

export class ServerReview {
  /** Shared by all reviews: a chart with its effects takes more memory than everything else that a connection has. */
  static readonly #machine = reviewMachine.provide({
    actors: {
      recallBaseline: askReviewStore<RecallBaselineOutput, RecallBaselineInput>((system) => {
        const review = ServerReview.#of(system);
        return { clock: review.#ports.clock, ask: (input) => review.#recall(input) };
      }),
      keepAccepted: askReviewStore<KeepAcceptedOutput, KeepAcceptedInput>((system) => {
        const review = ServerReview.#of(system);
        return { clock: review.#ports.clock, ask: (input) => review.#keep(input) };
      }),
    },
  });
  static readonly #bySystem = new WeakMap<ReviewSystem, ServerReview>();

  readonly server: ReviewedServer;
  readonly #ports: ServerReviewPorts;
  /** The running chart; undefined at rest. */
  #actor: ActorRefFrom<typeof reviewMachine> | undefined;
  #snapshot: ReviewSnapshot;
  #isStopped = false;
  /** Definitions by fingerprint; undefined while the list of the server has them. */
  #definitions: Map<string, Definition> | undefined;
  #waiting: readonly (() => void)[] = NOTHING;
  #tools: readonly Tool[] | undefined;
  #madeFrom: readonly unknown[] = NOTHING;
  #held: readonly HeldDefinition[] = NOTHING;
  #names = NONE;

  constructor(server: ReviewedServer, ports: ServerReviewPorts) {
    this.server = server;
    this.#ports = ports;
    this.#actor = this.#wake();
    this.#snapshot = this.#actor.getSnapshot();
  }

  /** Judges a list. For the same list, asks the store again only if it could not answer or store before. */
  listed(tools: readonly Tool[]): void {
    if (tools === this.#tools && this.#isDone) return;
    const { listed } = this.#snapshot.context;
    this.#definitions ??= this.#listedDefinitions();
    const prints = tools === this.#tools ? listed : tools.map((tool) => this.#print(tool));
    this.#tools = tools;
    this.#send({ type: 'tools.listed', tools: prints });
    this.#dropDefinitions();
  }

  /** The state of its chart. */
  get state(): StateValue {
    return this.#snapshot.value;
  }

  /** The tools that were judged and held; the same list until it changes. */
  get held(): readonly HeldDefinition[] {
    this.#bringUpToDate();
    return this.#held;
  }

  /** Names of all held tools, also of those that are not judged yet; the same object until it changes. */
  get names(): ReadonlySet<string> {
    this.#bringUpToDate();
    return this.#names;
  }

  /** The held tool of that name, judged or not; undefined if it is not held. */
  heldTool(name: string): HeldDefinition | undefined {
    if (!this.names.has(name)) return undefined;
    const judged = this.held.find(({ tool }) => tool === name);
    const tool = this.#tools?.find((each) => each.name === name);
    if (judged !== undefined || tool === undefined) return judged;
    const print = this.#print(tool);
    const { server } = this.server;
    const listed = this.#definition(print.fingerprint) ?? toReviewed(tool);
    return { ...print, server, reason: 'unknown', listed, accepted: undefined };
  }

  /**
   * Resolves to whether the acceptance was stored. Undefined if it is refused: that fingerprint is neither held nor
   * accepted.
   */
  accept(print: ToolPrint): Promise<boolean> | undefined {
    const event: ReviewEvent = { type: 'tool.accept', ...print };
    const answer = verdict(ServerReview.#machine.resolveState(this.#snapshot), event);
    if (answer === 'accepted') this.#send(event);
    const counts = answer === 'accepted' || answer === 'ignored';
    return counts ? this.idle().then(() => !hasPrint(this.#snapshot.context.unkept, print)) : undefined;
  }

  /** Call this when another process has changed the accepted tools. */
  storeChanged(): void {
    this.#send({ type: 'store.changed' });
  }

  /** Resolves when the last list is judged. */
  judged(): Promise<void> {
    return this.#until(() => !this.#snapshot.tags.has('recalling'));
  }

  /** Resolves when nothing is being read or stored. */
  idle(): Promise<void> {
    return this.#until(() => this.#isAtRest);
  }

  stop(): void {
    this.#isStopped = true;
    this.#actor?.stop();
    this.#ports.gone?.(this.server);
    for (const look of this.#waiting) look();
  }

  get #isAtRest(): boolean {
    return !this.#snapshot.tags.has('working');
  }

  /** Whether the list is judged and stored: judging it again would give the same result. */
  get #isDone(): boolean {
    const { tags, context } = this.#snapshot;
    return tags.has('judged') && context.unkept.length === 0;
  }

  #send(event: ReviewEvent): void {
    if (this.#isStopped || this.#snapshot.status !== 'active') return;
    this.#actor ??= this.#wake(this.#snapshot);
    this.#actor.send(event);
  }

  /** Starts an actor, from the snapshot of the last one if there is one. */
  #wake(from?: ReviewSnapshot): ActorRefFrom<typeof reviewMachine> {
    const input = { server: this.server.server };
    const snapshot = from === undefined ? {} : { snapshot: ServerReview.#machine.resolveState(from) };
    const actor = createActor(ServerReview.#machine, { input, ...snapshot });
    ServerReview.#bySystem.set(actor.system, this);
    const emitted: ReviewEmitted[] = [];
    actor.on('*', (event) => emitted.push(event));
    const report = (): void => {
      this.#snapshot = actor.getSnapshot();
      this.#ports.moved(this, emitted.splice(0));
      for (const look of this.#waiting) look();
    };
    const moved = (): void => {
      report();
      if (this.#isAtRest) this.#rest();
    };
    const die = (error: unknown): void => {
      emitted.push({ type: 'troubled', message: messageOf(error) });
      report();
    };
    actor.start();
    actor.subscribe({ next: moved, error: die });
    return actor;
  }

  #rest(): void {
    const { status, value, context, tags } = this.#snapshot;
    this.#snapshot = { status, value, context, tags };
    this.#dropDefinitions();
    this.#actor?.stop();
    this.#actor = undefined;
  }

  #until(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!this.#isStopped && this.#snapshot.status === 'active' && !isTrue()) return;
        this.#waiting = this.#waiting.filter((each) => each !== look);
        resolve();
      };
      this.#waiting = [...this.#waiting, look];
      look();
    });
  }

  static #of(system: ReviewSystem): ServerReview {
    const review = ServerReview.#bySystem.get(system);
    if (review === undefined) throw new Error('this actor system does not belong to a review');
    return review;
  }

  async #recall({ first }: RecallBaselineInput): Promise<RecallBaselineOutput> {
    const given = this.#definitionsOf(first);
    const tools: unknown = await this.#ports.store.baseline(this.server, given);
    if (!isToolList(tools)) throw new Error('the store returned something other than a list of tools');
    const isNew = tools.length === given.length && tools.every((tool, index) => tool === given[index]);
    if (isNew && given.length === first.length) return { accepted: first };
    return { accepted: tools.map((tool) => this.#print(tool, tool.fingerprint)) };
  }

  async #keep({ prints }: KeepAcceptedInput): Promise<KeepAcceptedOutput> {
    await this.#ports.store.accept(this.server, this.#definitionsOf(prints));
    return { kept: prints };
  }

  #print(tool: ReviewedTool, known?: string): ToolPrint {
    const print = known ?? fingerprint(tool);
    const definitions = (this.#definitions ??= this.#listedDefinitions());
    const before = definitions.get(print);
    if (before?.print.tool === tool.name) return before.print;
    const made = { tool: tool.name, fingerprint: print };
    if (before === undefined) this.#define(definitions, made, tool, known === undefined);
    return made;
  }

  /** `isOwn`: the fingerprint belongs to this tool. */
  #define(definitions: Map<string, Definition>, print: ToolPrint, tool: ReviewedTool, isOwn: boolean): void {
    const shown = withoutSecrets(tool, this.#ports.mask(this.server.server));
    definitions.set(print.fingerprint, { print, tool: shown, isExact: isOwn && shown === tool });
  }

  #definition(print: string): ReviewedTool | undefined {
    this.#definitions ??= this.#listedDefinitions();
    const known = this.#definitions.get(print);
    return known && toReviewed(known.tool);
  }

  /** The definitions of the judged list, whose tools are in the order of its fingerprints. */
  #listedDefinitions(): Map<string, Definition> {
    const definitions = new Map<string, Definition>();
    const { listed } = this.#snapshot.context;
    for (const [index, tool] of (this.#tools ?? []).entries()) {
      const print = listed[index];
      if (print !== undefined && !definitions.has(print.fingerprint))
        this.#define(definitions, print, tool, true);
    }
    return definitions;
  }

  #definitionsOf(prints: readonly ToolPrint[]): readonly RememberedTool[] {
    return prints.flatMap(({ fingerprint: print }) => {
      const tool = this.#definition(print);
      if (tool === undefined) return [];
      const isExact = this.#definitions?.get(print)?.isExact === true || fingerprint(tool) === print;
      return isExact ? tool : { ...tool, fingerprint: print };
    });
  }

  /** Drops definitions that are on no list, except while a list is being read; all of them if the list has them. */
  #dropDefinitions(): void {
    const definitions = this.#definitions;
    if (definitions === undefined || this.#snapshot.tags.has('recalling')) return;
    const { listed, accepted, held, unkept } = this.#snapshot.context;
    const named = new Set(listed.map((print) => print.fingerprint));
    const isListed = accepted?.every((print) => named.has(print.fingerprint)) === true;
    if (this.#isDone && isListed && held.length === 0) {
      this.#definitions = undefined;
      return;
    }
    for (const { fingerprint: print } of [...(accepted ?? []), ...unkept]) named.add(print);
    for (const each of definitions.keys()) if (!named.has(each)) definitions.delete(each);
  }

  #bringUpToDate(): void {
    const { status, context } = this.#snapshot;
    const { listed, accepted, held } = context;
    const from = [status, this.#tools, listed, accepted, held];
    if (from.every((each, index) => each === this.#madeFrom[index])) return;
    this.#madeFrom = from;
    const { server } = this.server;
    const before = new Map(accepted?.map((print) => [print.tool, print.fingerprint]));
    this.#held = held.flatMap((print) => {
      const now = this.#definition(print.fingerprint);
      const acceptedAs = this.#definition(before.get(print.tool) ?? '');
      return now === undefined ? [] : { ...print, server, listed: now, accepted: acceptedAs };
    });
    const isDead = status === 'error';
    const names = isDead
      ? (this.#tools ?? []).map(({ name }) => name)
      : heldOf(listed, accepted).map(({ tool }) => tool);
    const isSame = names.length === this.#names.size && names.every((name) => this.#names.has(name));
    if (!isSame) this.#names = names.length === 0 ? NONE : new Set(names);
  }
}

/** The tool of a fingerprint; it may have more fields than are reviewed. */
interface Definition {
  readonly print: ToolPrint;
  readonly tool: ReviewedTool;
  /** The fingerprint belongs to `tool`, which no mask has changed. */
  readonly isExact: boolean;
}

/** Masks all fields except the name, which identifies the tool. */
function withoutSecrets(tool: ReviewedTool, mask: Mask): ReviewedTool {
  return mask === NO_MASK ? tool : { ...maskJson(toReviewed(tool), mask), name: tool.name };
}

function isToolList(value: unknown): value is readonly RememberedTool[] {
  return Array.isArray(value) && value.every((tool) => isObject(tool) && typeof tool['name'] === 'string');
}

// Runs a question to the store as an effect of the review's chart: it fails if it takes too long, and rejects with a
// plain record.

/** Longest time for one answer of a store. */
const LIMIT_MS = 10_000;

/** The access of one review to its store. */
export interface StoreAsker<TOutput, TInput> {
  readonly clock: Clock;
  readonly ask: (input: TInput) => Promise<TOutput>;
}

/** `askerOf` returns the access of the review that an actor system belongs to. */
export function askReviewStore<TOutput, TInput>(
  askerOf: (system: AnyActorRef['system']) => StoreAsker<TOutput, TInput>,
) {
  return fromPromise<TOutput, TInput>(async ({ input, signal, system }) => {
    try {
      const { clock, ask } = askerOf(system);
      return await withinLimit(clock, signal, LIMIT_MS, () => ask(input));
    } catch (error) {
      const trouble: ReviewTrouble = { message: messageOf(error) };
      return Promise.reject(trouble);
    }
  });
}
