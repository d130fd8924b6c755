/**
 * The review of one server: runs its chart, keeps the definitions behind the fingerprints, and asks the store.
 *
 * V1. A tool that was not judged yet is held, and so is every tool once the chart has died of an error of ours.
 * V2. Whatever the store does, an answer comes: what takes too long has failed.
 * V3. A fingerprint is that of the tool as its server has it; what is kept and shown holds no secret of its entry.
 */
import { createActor, type ActorRefFrom, type AnyActorRef, type StateValue } from 'xstate';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { heldOf, type ToolPrint } from '../../machines/policy/review.js';
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
import { fingerprint, toReviewed, type ReviewedTool } from './fingerprint.js';
import type { HeldDefinition } from './held-tool.js';
import type { RememberedTool, ReviewedServer, ReviewStore } from './review-store.js';

export interface ServerReviewPorts {
  readonly store: ReviewStore;
  readonly clock: Clock;
  /** Strikes out the secrets of the entry, which a server may repeat: they are neither kept nor shown. */
  readonly mask: () => Mask;
  /** What the chart has told, once for each step of it. Called when the chart is at rest. */
  readonly moved: (told: readonly ReviewEmitted[]) => void;
}

type ReviewSystem = AnyActorRef['system'];

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
  readonly #actor: ActorRefFrom<typeof reviewMachine>;
  /** By fingerprint. */
  readonly #definitions = new Map<string, ReviewedTool>();
  readonly #waiting = new Set<() => void>();
  #tools: readonly Tool[] | undefined;
  #madeFrom: readonly unknown[] = [];
  #held: readonly HeldDefinition[] = [];
  #names = NONE;

  constructor(server: ReviewedServer, ports: ServerReviewPorts) {
    this.server = server;
    this.#ports = ports;
    this.#actor = createActor(ServerReview.#machine, { input: { server: server.server } });
    ServerReview.#bySystem.set(this.#actor.system, this);
    const told: ReviewEmitted[] = [];
    this.#actor.on('*', (event) => told.push(event));
    const tell = (): void => {
      ports.moved(told.splice(0));
      for (const look of [...this.#waiting]) look();
    };
    const die = (error: unknown): void => {
      told.push({ type: 'troubled', message: error instanceof Error ? error.message : String(error) });
      tell();
    };
    this.#actor.start();
    this.#actor.subscribe({ next: tell, error: die });
  }

  /** Judges a list; the same list again asks the store again where it could not answer. */
  listed(tools: readonly Tool[]): void {
    const { listed } = this.#actor.getSnapshot().context;
    const prints = tools === this.#tools ? listed : tools.map((tool) => this.#print(toReviewed(tool)));
    this.#tools = tools;
    this.#actor.send({ type: 'tools.listed', tools: prints });
    this.#dropDefinitions();
  }

  /** Where its chart stands. */
  get state(): StateValue {
    return this.#actor.getSnapshot().value;
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
    const print = this.#print(toReviewed(tool));
    const listed = this.#definitions.get(print.fingerprint) ?? toReviewed(tool);
    const { server } = this.server;
    return { ...print, server, reason: 'unknown', listed, approved: undefined };
  }

  /** Whether the approval counts: for what is held under that very fingerprint, or was approved before. */
  approve(print: ToolPrint): boolean {
    const event: ReviewEvent = { type: 'tool.approve', ...print };
    const answer = verdict(this.#actor.getSnapshot(), event);
    if (answer === 'accepted') this.#actor.send(event);
    return answer === 'accepted' || answer === 'ignored';
  }

  /** Something was approved elsewhere. */
  storeChanged(): void {
    this.#actor.send({ type: 'store.changed' });
  }

  /** Resolves when the last list is judged. */
  judged(): Promise<void> {
    return this.#until(() => !this.#actor.getSnapshot().matches('recalling'));
  }

  /** Resolves when nothing is read or kept any more. */
  settled(): Promise<void> {
    const isAtRest = (): boolean => {
      const snapshot = this.#actor.getSnapshot();
      return !snapshot.matches('recalling') && !snapshot.matches('keeping');
    };
    return this.#until(isAtRest);
  }

  stop(): void {
    this.#actor.stop();
    for (const look of [...this.#waiting]) look();
  }

  #until(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.#actor.getSnapshot().status === 'active' && !isTrue()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
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
    return { approved: tools.map((tool) => this.#print(toReviewed(tool), tool.fingerprint)) };
  }

  async #keep({ prints }: KeepApprovalsInput): Promise<KeepApprovalsOutput> {
    await this.#ports.store.approve(this.server, this.#definitionsOf(prints));
    return { kept: prints };
  }

  #print(tool: ReviewedTool, known?: string): ToolPrint {
    const print = { tool: tool.name, fingerprint: known ?? fingerprint(tool) };
    if (!this.#definitions.has(print.fingerprint)) {
      this.#definitions.set(print.fingerprint, withoutSecrets(tool, this.#ports.mask()));
    }
    return print;
  }

  #definitionsOf(prints: readonly ToolPrint[]): readonly RememberedTool[] {
    return prints.flatMap(({ fingerprint: print }) => {
      const tool = this.#definitions.get(print);
      if (tool === undefined) return [];
      return fingerprint(tool) === print ? tool : { ...tool, fingerprint: print };
    });
  }

  /** Those that no list names any more. What is being read is on no list yet. */
  #dropDefinitions(): void {
    const snapshot = this.#actor.getSnapshot();
    if (snapshot.matches('recalling')) return;
    const { listed, approved, unkept } = snapshot.context;
    const named = new Set([...listed, ...(approved ?? []), ...unkept].map((print) => print.fingerprint));
    for (const each of this.#definitions.keys()) if (!named.has(each)) this.#definitions.delete(each);
  }

  #bringUpToDate(): void {
    const { status, context } = this.#actor.getSnapshot();
    const { listed, approved, held } = context;
    const from = [status, this.#tools, listed, approved, held];
    if (from.every((each, index) => each === this.#madeFrom[index])) return;
    this.#madeFrom = from;
    const { server } = this.server;
    const before = new Map(approved?.map((print) => [print.tool, print.fingerprint]));
    this.#held = held.flatMap((print) => {
      const now = this.#definitions.get(print.fingerprint);
      const approvedAs = this.#definitions.get(before.get(print.tool) ?? '');
      return now === undefined ? [] : { ...print, server, listed: now, approved: approvedAs };
    });
    const isDead = status === 'error';
    const names = isDead
      ? (this.#tools ?? []).map(({ name }) => name)
      : heldOf(listed, approved).map(({ tool }) => tool);
    const isSame = names.length === this.#names.size && names.every((name) => this.#names.has(name));
    if (!isSame) this.#names = new Set(names);
  }
}

/** The name stays: it is who the tool is. */
function withoutSecrets(tool: ReviewedTool, mask: Mask): ReviewedTool {
  return mask === NO_MASK ? tool : toReviewed({ ...maskJson(tool, mask), name: tool.name });
}

function isToolList(value: unknown): value is readonly RememberedTool[] {
  return Array.isArray(value) && value.every((tool) => isObject(tool) && typeof tool['name'] === 'string');
}
