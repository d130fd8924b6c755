/**
 * The review of one server: runs its chart, keeps the definitions behind the fingerprints, and asks the store.
 *
 * V1. A tool that was not judged yet is held, and so is every tool once the chart has died of an error of ours.
 * V2. Whatever the store does, an answer comes: what takes too long has failed.
 * V3. A fingerprint is that of the tool as its server has it; what is kept and shown holds no secret of its entry.
 * V4. Between two events there is no actor, unless the store is being asked: what rests is a snapshot, and weighs little.
 */
import { createActor, type ActorRefFrom, type AnyActorRef, type SnapshotFrom, type StateValue } from 'xstate';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { hasPrint, heldOf, type ToolPrint } from '../../machines/policy/review.js';
import {
  reviewMachine,
  type KeepApprovalsInput,
  type KeepApprovalsOutput,
  type RecallBaselineInput,
  type RecallBaselineOutput,
  type ReviewEmitted,
  type ReviewEvent,
} from '../../machines/review.machine.js';
import { verdict } from '../../machines/verdict.js';
import { askReviewStore } from '../actors/ask-review-store.js';
import { isObject } from '../config/read-shape.js';
import type { Clock } from '../ports.js';
import { maskJson, NO_MASK, type Mask } from '../secrets.js';
import { messageOf } from '../thrown.js';
import { fingerprint, toReviewed, type ReviewedTool } from './fingerprint.js';
import type { HeldDefinition } from './held-tool.js';
import type { OwnReviewStore, RememberedTool, ReviewedServer } from './review-store.js';

export interface ServerReviewPorts extends OwnReviewStore {
  readonly clock: Clock;
  /** Strikes out the secrets of the entry, which a server may repeat: they are neither kept nor shown. */
  readonly mask: () => Mask;
  /** What the chart has told, once for each step of it. Called when the chart is at rest. */
  readonly moved: (told: readonly ReviewEmitted[]) => void;
}

type ReviewSystem = AnyActorRef['system'];
/** What of a snapshot says where a chart stands. */
type Standing = Pick<SnapshotFrom<typeof reviewMachine>, 'status' | 'value' | 'context'>;

const NONE: ReadonlySet<string> = new Set();

export class ServerReview {
  /** One for all: a chart with its effects is larger than everything else that a connection has. */
  static readonly #machine = reviewMachine.provide({
    actors: {
      recallBaseline: askReviewStore<RecallBaselineOutput, RecallBaselineInput>((system) => {
        const review = ServerReview.#of(system);
        return { clock: review.#ports.clock, ask: (input) => review.#recall(input) };
      }),
      keepApprovals: askReviewStore<KeepApprovalsOutput, KeepApprovalsInput>((system) => {
        const review = ServerReview.#of(system);
        return { clock: review.#ports.clock, ask: (input) => review.#keep(input) };
      }),
    },
  });
  static readonly #bySystem = new WeakMap<ReviewSystem, ServerReview>();

  readonly server: ReviewedServer;
  readonly #ports: ServerReviewPorts;
  /** The chart while it is at work. */
  #actor: ActorRefFrom<typeof reviewMachine> | undefined;
  #standing: Standing;
  #isStopped = false;
  /** By fingerprint. */
  readonly #definitions = new Map<string, Definition>();
  #waiting: readonly (() => void)[] = [];
  #tools: readonly Tool[] | undefined;
  #madeFrom: readonly unknown[] = [];
  #held: readonly HeldDefinition[] = [];
  #names = NONE;

  constructor(server: ReviewedServer, ports: ServerReviewPorts) {
    this.server = server;
    this.#ports = ports;
    this.#actor = this.#wake();
    this.#standing = this.#actor.getSnapshot();
  }

  /** Judges a list; the same list again asks the store again where it could not answer, or could not keep. */
  listed(tools: readonly Tool[]): void {
    if (tools === this.#tools && this.#isDone) return;
    const { listed } = this.#standing.context;
    const prints = tools === this.#tools ? listed : tools.map((tool) => this.#print(tool));
    this.#tools = tools;
    this.#send({ type: 'tools.listed', tools: prints });
    this.#dropDefinitions();
  }

  /** Where its chart stands. */
  get state(): StateValue {
    return this.#standing.value;
  }

  /** What is held, and judged so; the same list until it changes. */
  get held(): readonly HeldDefinition[] {
    this.#bringUpToDate();
    return this.#held;
  }

  /** Names of the tools that are held, those that are not judged yet included; the same object until it changes. */
  get names(): ReadonlySet<string> {
    this.#bringUpToDate();
    return this.#names;
  }

  /** The tool of that name, where it is held, judged or not. */
  heldTool(name: string): HeldDefinition | undefined {
    if (!this.names.has(name)) return undefined;
    const judged = this.held.find(({ tool }) => tool === name);
    const tool = this.#tools?.find((each) => each.name === name);
    if (judged !== undefined || tool === undefined) return judged;
    const print = this.#print(tool);
    const { server } = this.server;
    const listed = this.#definition(print.fingerprint) ?? toReviewed(tool);
    return { ...print, server, reason: 'unknown', listed, approved: undefined };
  }

  /** Whether it is kept in the end; undefined where it does not count: that very fingerprint is neither held nor approved. */
  approve(print: ToolPrint): Promise<boolean> | undefined {
    const event: ReviewEvent = { type: 'tool.approve', ...print };
    const answer = verdict(ServerReview.#machine.resolveState(this.#standing), event);
    if (answer === 'accepted') this.#send(event);
    const counts = answer === 'accepted' || answer === 'ignored';
    return counts ? this.settled().then(() => !hasPrint(this.#standing.context.unkept, print)) : undefined;
  }

  /** Something was approved elsewhere. */
  storeChanged(): void {
    this.#send({ type: 'store.changed' });
  }

  /** Resolves when the last list is judged. */
  judged(): Promise<void> {
    return this.#until(() => this.#standing.value !== 'recalling');
  }

  /** Resolves when nothing is read or kept any more. */
  settled(): Promise<void> {
    return this.#until(() => this.#isAtRest);
  }

  stop(): void {
    this.#isStopped = true;
    this.#actor?.stop();
    this.#ports.gone?.(this.server);
    for (const look of this.#waiting) look();
  }

  get #isAtRest(): boolean {
    const { value } = this.#standing;
    return value !== 'recalling' && value !== 'keeping';
  }

  /** The list is judged, and nothing is to be kept any more: judging it again would find the same. */
  get #isDone(): boolean {
    const { value, context } = this.#standing;
    return typeof value === 'object' && 'judged' in value && context.unkept.length === 0;
  }

  #send(event: ReviewEvent): void {
    if (this.#isStopped || this.#standing.status !== 'active') return;
    this.#actor ??= this.#wake(this.#standing);
    this.#actor.send(event);
  }

  /** An actor that begins, or goes on from where the last one came to rest. */
  #wake(from?: Standing): ActorRefFrom<typeof reviewMachine> {
    const input = { server: this.server.server };
    const snapshot = from === undefined ? {} : { snapshot: ServerReview.#machine.resolveState(from) };
    const actor = createActor(ServerReview.#machine, { input, ...snapshot });
    ServerReview.#bySystem.set(actor.system, this);
    const told: ReviewEmitted[] = [];
    actor.on('*', (event) => told.push(event));
    const tell = (): void => {
      this.#standing = actor.getSnapshot();
      this.#ports.moved(told.splice(0));
      for (const look of this.#waiting) look();
    };
    const moved = (): void => {
      tell();
      if (this.#isAtRest) this.#rest();
    };
    const die = (error: unknown): void => {
      told.push({ type: 'troubled', message: messageOf(error) });
      tell();
    };
    actor.start();
    actor.subscribe({ next: moved, error: die });
    return actor;
  }

  #rest(): void {
    const { status, value, context } = this.#standing;
    this.#standing = { status, value, context };
    this.#actor?.stop();
    this.#actor = undefined;
  }

  #until(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!this.#isStopped && this.#standing.status === 'active' && !isTrue()) return;
        this.#waiting = this.#waiting.filter((each) => each !== look);
        resolve();
      };
      this.#waiting = [...this.#waiting, look];
      look();
    });
  }

  static #of(system: ReviewSystem): ServerReview {
    const review = ServerReview.#bySystem.get(system);
    if (review === undefined) throw new Error('this actor system belongs to no review');
    return review;
  }

  async #recall({ first }: RecallBaselineInput): Promise<RecallBaselineOutput> {
    const tools: unknown = await this.#ports.store.baseline(this.server, this.#definitionsOf(first));
    if (!isToolList(tools)) throw new Error('the store gave something else than a list of tools');
    return { approved: tools.map((tool) => this.#print(tool, tool.fingerprint)) };
  }

  async #keep({ prints }: KeepApprovalsInput): Promise<KeepApprovalsOutput> {
    await this.#ports.store.approve(this.server, this.#definitionsOf(prints));
    return { kept: prints };
  }

  #print(tool: ReviewedTool, known?: string): ToolPrint {
    const print = known ?? fingerprint(tool);
    const before = this.#definitions.get(print);
    if (before?.print.tool === tool.name) return before.print;
    const made: Definition = {
      print: { tool: tool.name, fingerprint: print },
      tool: before?.tool ?? withoutSecrets(tool, this.#ports.mask()),
    };
    if (before === undefined) this.#definitions.set(print, made);
    return made.print;
  }

  #definition(print: string): ReviewedTool | undefined {
    const known = this.#definitions.get(print);
    return known && toReviewed(known.tool);
  }

  #definitionsOf(prints: readonly ToolPrint[]): readonly RememberedTool[] {
    return prints.flatMap(({ fingerprint: print }) => {
      const tool = this.#definition(print);
      if (tool === undefined) return [];
      return fingerprint(tool) === print ? tool : { ...tool, fingerprint: print };
    });
  }

  /** Those that no list names any more. What is being read is on no list yet. */
  #dropDefinitions(): void {
    if (this.#standing.value === 'recalling') return;
    const { listed, approved, unkept } = this.#standing.context;
    const named = new Set([...listed, ...(approved ?? []), ...unkept].map((print) => print.fingerprint));
    for (const each of this.#definitions.keys()) if (!named.has(each)) this.#definitions.delete(each);
  }

  #bringUpToDate(): void {
    const { status, context } = this.#standing;
    const { listed, approved, held } = context;
    const from = [status, this.#tools, listed, approved, held];
    if (from.every((each, index) => each === this.#madeFrom[index])) return;
    this.#madeFrom = from;
    const { server } = this.server;
    const before = new Map(approved?.map((print) => [print.tool, print.fingerprint]));
    this.#held = held.flatMap((print) => {
      const now = this.#definition(print.fingerprint);
      const approvedAs = this.#definition(before.get(print.tool) ?? '');
      return now === undefined ? [] : { ...print, server, listed: now, approved: approvedAs };
    });
    const isDead = status === 'error';
    const names = isDead
      ? (this.#tools ?? []).map(({ name }) => name)
      : heldOf(listed, approved).map(({ tool }) => tool);
    const isSame = names.length === this.#names.size && names.every((name) => this.#names.has(name));
    if (!isSame) this.#names = names.length === 0 ? NONE : new Set(names);
  }
}

/** The tool behind a fingerprint, and perhaps more of it than is reviewed. */
interface Definition {
  readonly print: ToolPrint;
  readonly tool: ReviewedTool;
}

/** The name stays: it is who the tool is. */
function withoutSecrets(tool: ReviewedTool, mask: Mask): ReviewedTool {
  return mask === NO_MASK ? tool : { ...maskJson(toReviewed(tool), mask), name: tool.name };
}

function isToolList(value: unknown): value is readonly RememberedTool[] {
  return Array.isArray(value) && value.every((tool) => isObject(tool) && typeof tool['name'] === 'string');
}
