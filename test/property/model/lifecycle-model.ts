/**
 * The lifecycle of a connection as its page describes it, independent of the chart. The moves are rows of the page; this
 * file implements their terms.
 *
 * Like the page, it says whether a command is accepted, not why one is rejected.
 *
 * Longer than most files because it implements every term of the page.
 */
import type {
  ConnectionCommand,
  ResolveConfigOutput,
  TransportKind,
} from '../../../machines/connection/connection.events.js';
import type { Verdict } from '../../../machines/policy/failure.js';
import type { ConnectionPolicy } from '../../../machines/policy/policy.js';
import { PLAIN_POLICY } from '../../support/connection-driver.js';
import type { LifecyclePage, Move } from './lifecycle-page.js';

export const BACKOFF_MS = 1_000;

/** Small numbers, so that a short sequence reaches every limit. */
export const MODEL_POLICY: ConnectionPolicy = {
  ...PLAIN_POLICY,
  maxAttempts: 3,
  maxUnreachable: 2,
  maxSubscriptionTries: 2,
  backoff: { kind: 'fixed', delaysMs: [BACKOFF_MS] },
  intensity: { restarts: 3, periodMs: 6_000 },
  signIns: { restarts: 2, periodMs: 6_000 },
  immediateRetryWindowMs: 8_000,
  exhausted: { callAfterMs: 2_000, remoteEveryMs: 8_000 },
  listChanged: { debounceMs: 300, maxWaitMs: 900 },
};

export interface Start {
  readonly transport: TransportKind;
  readonly wanted: boolean;
  readonly online: boolean;
  /** Whether it replaces a crashed connection, with `CRASHED_GENERATION` as the last generation. */
  readonly crashed: boolean;
}

/** The last generation of a connection that has crashed. */
export const CRASHED_GENERATION = 7;

/** The outcomes of resolving an entry. */
export type Outcome = ResolveConfigOutput['kind'];

/** The properties of an event. */
export interface Particulars {
  readonly outcome?: Outcome;
  readonly verdict?: Verdict;
  /** Whether the failure means that the server refuses a second session. */
  readonly isSecondRefused?: boolean;
  /** False if the failure means that Troupe cannot start a sign-in. */
  readonly canSignIn?: boolean | undefined;
  /** Whether the server has answered in the new era. */
  readonly isStateless?: boolean;
  /** Whether the server has nothing to report on its stream of changes. */
  readonly hasNothing?: boolean;
  /** Whether the failure means that the server does not know the request. */
  readonly isUnsupported?: boolean;
  /** Number of consecutive exchanges that did not reach the server. */
  readonly count?: number;
  /** The transport of the new entry. */
  readonly transport?: TransportKind;
  /** Whether the command also needs the connection to start. */
  readonly wanted?: boolean;
  /** The random delay of the connection, which the model cannot know. */
  readonly drawnMs?: number;
}

/** A running effect and the state that runs it. */
export interface RunningEffect {
  readonly slot: string;
  /** Whether it works for a session that is prepared beside the current one. */
  readonly isSuccessors: boolean;
}

/** The regions of parallel states. */
const REGIONS = [
  'ready.liveness',
  'ready.catalog',
  'ready.extras',
  'ready.subscription',
  'ready.succession',
  'ready.retirement',
  'shuttingDown.procedure',
  'shuttingDown.purpose',
] as const;

/** Maximum number of consecutive immediate moves. */
const MAX_AT_ONCE = 20;

const isWithin = (state: string, outer: string): boolean => state === outer || state.startsWith(`${outer}.`);

const topOf = (state: string): string => state.split('.')[0]!;

/** The region of a state in a parallel state; otherwise `all`. */
const regionOf = (state: string): string => REGIONS.find((region) => isWithin(state, region)) ?? 'all';

const regionsOf = (top: string): readonly string[] => REGIONS.filter((region) => topOf(region) === top);

/** The state and its ancestors except the outermost, innermost first. */
function innerChain(state: string): string[] {
  const parts = state.split('.');
  return parts.slice(1).map((_, index) => parts.slice(0, parts.length - index).join('.'));
}

/** The public states that may follow each public state, by the rows of the page. */
export function legalMoves({ moves, states }: LifecyclePage): ReadonlyMap<string, ReadonlySet<string>> {
  const tops = [...new Set(states.map(({ state }) => topOf(state)))];
  const legal = new Map(tops.map((state) => [state, new Set<string>()]));
  for (const { in: sources, to } of moves) {
    if (to === '') continue;
    const from = sources.flatMap((source) =>
      source === 'any' ? tops.filter((state) => state !== 'stopped') : [topOf(source)],
    );
    for (const source of from) legal.get(source)!.add(topOf(to));
  }
  return legal;
}

export class LifecycleModel {
  transport: TransportKind;
  attempt = 0;
  generation: number;
  isWanted: boolean;
  isOnline: boolean;
  /** Rows of the page that have applied. */
  readonly used = new Set<Move>();
  readonly #page: LifecyclePage;
  #active: string[] = ['configuring.beginning'];
  #issued: number;
  readonly #hasCrashed: boolean;
  #isUnasked = false;
  #failedAt: number | null = null;
  #losses: number[] = [];
  #signIns: number[] = [];
  #delayMs = 0;
  #now = 0;
  #next: TransportKind | null = null;
  #isRetiring = false;
  #isStateless = false;
  #isNextStateless = false;
  #tries = 0;
  #openSince: number | null = null;
  readonly #changedAt = new Map<string, number>();
  readonly #waits = new Map<string, number>();

  constructor(start: Start, page: LifecyclePage) {
    this.#page = page;
    this.transport = start.transport;
    this.isWanted = start.wanted;
    this.isOnline = start.online;
    this.#hasCrashed = start.crashed;
    this.generation = start.crashed ? CRASHED_GENERATION : 0;
    this.#issued = this.generation;
    this.#followUp({});
  }

  /** The active states, sorted: one, or one for each region. */
  get states(): readonly string[] {
    return this.#active.toSorted();
  }

  get isReady(): boolean {
    return this.isIn('ready');
  }

  /** The effects of the active states that end, in the order of the page. */
  get running(): RunningEffect[] {
    return this.#rowsOfActive().flatMap(({ state, runs }) =>
      runs === '' ? [] : [{ slot: runs, isSuccessors: isWithin(state, 'ready.succession') }],
    );
  }

  /** Names of all effects of the active states, sorted. */
  get effects(): string[] {
    return [...this.running.map(({ slot }) => slot), ...(this.isReady ? ['watchSession'] : [])].toSorted();
  }

  /** Whether a session may be alive, by the page. */
  get session(): string {
    return this.#rowsOfActive()[0]!.session;
  }

  isIn(outer: string): boolean {
    return this.#active.some((state) => isWithin(state, outer));
  }

  /** Whether the command has an effect. */
  command({ type, ...more }: ConnectionCommand): boolean {
    return this.happens(
      type.replace('connection.', ''),
      'transport' in more ? { transport: more.transport, wanted: more.wanted } : {},
    );
  }

  /** Takes a command or a fact in every active state. Returns whether anything changed. */
  happens(what: string, particulars: Particulars = {}): boolean {
    const inside = this.#active.map((state) => this.#firstMove(what, innerChain(state), particulars));
    const found = inside.filter((move) => move !== undefined);
    const top = topOf(this.#active[0]!);
    const outer = top === 'stopped' ? [] : [top, 'any'];
    const moves = found.length > 0 ? found : [this.#firstMove(what, outer, particulars)];
    for (const move of new Set(moves)) if (move !== undefined) this.#take(move, particulars);
    this.#followUp(particulars);
    return moves.some((move) => move !== undefined && (move.to !== '' || move.and.length > 0));
  }

  /** An effect has ended, in the state that runs it. */
  ends(effect: RunningEffect, how: 'succeeds' | 'fails', particulars: Particulars = {}): void {
    const { state } = this.#rowsOfActive().find(
      (row) => row.runs === effect.slot && isWithin(row.state, 'ready.succession') === effect.isSuccessors,
    )!;
    const move = this.#firstMove(how, [...innerChain(state), topOf(state)], particulars);
    if (move !== undefined) this.#take(move, particulars);
    this.#followUp(particulars);
  }

  pass(ms: number): void {
    const end = this.#now + ms;
    for (let due = this.#nextWait(end); due !== undefined; due = this.#nextWait(end)) {
      const [region, at] = due;
      this.#now = at;
      this.#waits.delete(region);
      const state = this.#active.find((each) => regionOf(each) === region)!;
      const move = this.#firstMove('waited', [state], {});
      if (move !== undefined) this.#take(move, {});
      this.#followUp({});
    }
    this.#now = end;
  }

  #nextWait(end: number): [string, number] | undefined {
    return [...this.#waits].filter(([, at]) => at <= end).toSorted(([, a], [, b]) => a - b)[0];
  }

  #rowsOfActive() {
    return this.#page.states.filter(({ state }) => this.#active.includes(state));
  }

  /** The first row whose `if` holds, of the first of these states that has one. */
  #firstMove(what: string, states: readonly string[], particulars: Particulars): Move | undefined {
    for (const state of states) {
      const found = this.#page.moves.find(
        (move) =>
          move.in.includes(state) &&
          move.when.includes(what) &&
          move.if.every((condition) => this.#isSo(condition, state, particulars)),
      );
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Applies the immediate rows until none applies. */
  #followUp(particulars: Particulars): void {
    for (let left = MAX_AT_ONCE; left > 0; left -= 1) {
      const moves = this.#active.map((state) => this.#firstMove('at once', [state], particulars));
      const next = moves.find((move) => move !== undefined);
      if (next === undefined) return;
      this.#take(next, particulars);
    }
    throw new Error(`The immediate rows of the page form a cycle in ${this.states.join(', ')}.`);
  }

  #take(move: Move, particulars: Particulars): void {
    this.used.add(move);
    const region = regionOf(move.to === '' ? (move.in[0] ?? '') : move.to);
    const isEntered = move.to !== '' && this.#leaveFor(move.to, move.and.includes('re-entered'));
    for (const change of move.and) this.#change(change, region, particulars);
    if (move.to === '') return;
    if (!this.isReady) this.#isRetiring = false;
    const entered = isEntered ? [topOf(move.to), ...this.#active] : [move.to];
    for (const state of entered) {
      const next = this.#firstMove('entered', [state], particulars);
      if (next !== undefined) this.#take(next, particulars);
    }
  }

  /** Whether a parallel state is entered or reentered. */
  #leaveFor(target: string, isAnew: boolean): boolean {
    const region = regionOf(target);
    if (region !== 'all' && this.isIn(topOf(target)) && !isAnew) {
      this.#waits.delete(region);
      this.#active = this.#active.map((state) => (regionOf(state) === region ? target : state));
      return false;
    }
    this.#waits.clear();
    const regions = regionsOf(topOf(target));
    this.#active =
      regions.length === 0
        ? [target]
        : regions.map((each) => (each === region ? target : this.#firstStateOf(each)));
    return regions.length > 0;
  }

  /** The first of its states on the page. */
  #firstStateOf(region: string): string {
    return this.#page.states.find(({ state }) => isWithin(state, region))!.state;
  }

  #isSo(condition: string, state: string, particulars: Particulars): boolean {
    if (condition.startsWith('not ')) return !this.#isSo(condition.slice(4), state, particulars);
    const { outcome, verdict, count = 0 } = particulars;
    const { maxAttempts, maxUnreachable, exhausted, listChanged } = MODEL_POLICY;
    const changedAt = this.#changedAt.get(regionOf(state));
    switch (condition) {
      case 'crashed':
        return this.#hasCrashed;
      case 'untrusted':
      case 'dormant':
        return outcome === condition;
      case 'may pass':
        return verdict === 'retry' || verdict === 'renew';
      case 'sign-in':
        return verdict === 'authorize';
      case 'signed in too often':
        return this.#hasSignedInTooOften();
      case 'permanent':
        return verdict === 'permanent';
      case 'out of attempts':
        return this.attempt >= maxAttempts && !(this.isReady && verdict === 'renew');
      case 'crash loop':
        return this.#isTooOften() && verdict !== 'renew';
      case 'out of reach':
        return count >= maxUnreachable;
      case 'remote':
        return this.#isRemote;
      case 'retries slowly':
        return exhausted.remoteEveryMs > 0;
      case 'online':
        return this.isOnline;
      case 'queues':
        return this.transport === 'stdio' || (this.#isUnasked && this.#isRemote);
      case 'wanted':
        return this.isWanted;
      case 'long ago':
        return this.#now - (this.#failedAt ?? Infinity) >= exhausted.callAfterMs;
      case 'changed meanwhile':
        return changedAt !== undefined;
      case 'can wait':
        return this.#now + listChanged.debounceMs - (changedAt ?? this.#now) <= listChanged.maxWaitMs;
      case 'side by side':
        return this.transport !== 'stdio' && particulars.transport !== 'stdio';
      case 'in turn':
        return (
          (verdict === 'authorize' && particulars.canSignIn !== false) || particulars.isSecondRefused === true
        );
      case 'outdated':
        return this.#next !== null;
      case 'retiring':
        return this.#isRetiring;
      case 'new era':
        return this.#isStateless;
      case 'nothing to report':
        return particulars.hasNothing === true;
      case 'unsupported':
        return particulars.isUnsupported === true;
      case 'opened again':
        return this.#tries > 0 && this.#openSince === null;
      case 'tried too often':
        return this.#triesInVain() >= MODEL_POLICY.maxSubscriptionTries;
      default:
        return this.isIn(condition);
    }
  }

  #change(change: string, region: string, particulars: Particulars): void {
    const { maxAttempts } = MODEL_POLICY;
    const { verdict = 'permanent', drawnMs = 0 } = particulars;
    switch (change) {
      case 'an attempt':
        this.attempt = Math.min(this.attempt + 1, maxAttempts);
        this.isWanted = true;
        this.#takeOver(undefined);
        return;
      case 'uncounted':
        this.attempt = Math.max(this.attempt - 1, 0);
        return;
      case 'a session':
        this.#issued += 1;
        this.generation = this.#issued;
        return;
      case 'signed in':
        this.#signIns.push(this.#now);
        return;
      case 'failed':
        this.#failedAt = this.#now;
        return;
      case 'back off':
        this.#delayMs = BACKOFF_MS;
        this.#isUnasked = true;
        return;
      case 'come back':
        this.#comeBack(verdict);
        return;
      case 'well':
        this.#delayMs = 0;
        this.#isUnasked = false;
        this.#failedAt = null;
        return;
      case 'wait':
        this.#waits.set(region, this.#now + this.#waitOf(region));
        return;
      case 'its era':
        if (region === 'all') this.#isStateless = particulars.isStateless === true;
        else this.#isNextStateless = particulars.isStateless === true;
        return;
      case 'open':
        this.#openSince = this.#now;
        return;
      case 'missed':
        this.happens('catalog.listChanged');
        this.happens('catalog.extrasChanged');
        return;
      case 'one try more':
        this.#tries = this.#triesInVain() + 1;
        this.#openSince = null;
        return;
      case 'forget tries':
        this.#tries = 0;
        this.#openSince = null;
        return;
      case 'wait again':
        this.#isUnasked = true;
        this.#delayMs = drawnMs;
        this.#waits.set(region, this.#now + drawnMs);
        return;
      case 'wait slowly':
        this.#delayMs = drawnMs;
        this.#waits.set(region, this.#now + drawnMs);
        return;
      case 'new round':
        this.#startOver();
        this.isWanted = true;
        return;
      case 'start over':
        this.#startOver();
        return;
      case 'forget attempts':
        this.attempt = 0;
        this.#signIns = [];
        return;
      case 'one more try':
      case 'one more try unasked':
        this.attempt = maxAttempts - 1;
        this.#delayMs = 0;
        this.#isUnasked = change === 'one more try unasked';
        return;
      case 'wanted':
      case 'unwanted':
        this.isWanted = change === 'wanted';
        return;
      case 'wanted if it says so':
        this.isWanted ||= particulars.wanted === true;
        return;
      case 'by the new entry':
        this.#takeOver(particulars.transport);
        return;
      case 'plan a successor':
        this.#next = particulars.transport ?? null;
        this.#issued += 1;
        return;
      case 'abandon it':
        this.#isRetiring = true;
        return;
      case 'succeed':
        this.generation = this.#issued;
        this.#isStateless = this.#isNextStateless;
        this.#isRetiring = true;
        return;
      case 'retired':
        this.#isRetiring = false;
        return;
      case 'changed':
        this.#changedAt.set(region, this.#changedAt.get(region) ?? this.#now);
        return;
      case 'unchanged':
        if (region === 'all') this.#changedAt.clear();
        else this.#changedAt.delete(region);
        return;
      case 'online':
      case 'offline':
        this.isOnline = change === 'online';
        return;
      case 're-entered':
      case 'new numbers':
        return;
      default:
        throw new Error(`The page has the unknown change '${change}'.`);
    }
  }

  #triesInVain(): number {
    return this.#openSince !== null && this.#now - this.#openSince >= 30_000 ? 0 : this.#tries;
  }

  #waitOf(region: string): number {
    if (region === 'all') return this.#delayMs;
    if (region !== 'ready.subscription') return MODEL_POLICY.listChanged.debounceMs;
    return Math.min(500 * 2 ** (this.#tries - 1), 15_000);
  }

  get #isRemote(): boolean {
    return this.transport === 'http' || this.transport === 'sse';
  }

  #isTooOften(): boolean {
    const { restarts, periodMs } = MODEL_POLICY.intensity;
    return this.#losses.filter((at) => this.#now - at <= periodMs).length + 1 >= restarts;
  }

  #hasSignedInTooOften(): boolean {
    const { restarts, periodMs } = MODEL_POLICY.signIns;
    return this.#signIns.filter((at) => this.#now - at <= periodMs).length >= restarts;
  }

  #comeBack(verdict: Verdict): void {
    const { immediateRetryWindowMs, maxAttempts } = MODEL_POLICY;
    const isFirst = !this.#losses.some((at) => this.#now - at <= immediateRetryWindowMs);
    const isForgiven = isFirst || (verdict === 'renew' && !this.#isTooOften());
    this.#delayMs = isForgiven ? 0 : BACKOFF_MS;
    this.#isUnasked = true;
    if (verdict === 'renew') this.attempt = Math.min(this.attempt, maxAttempts - 1);
    this.#losses.push(this.#now);
  }

  #startOver(): void {
    this.attempt = 0;
    this.#losses = [];
    this.#signIns = [];
    this.#delayMs = 0;
    this.#isUnasked = false;
  }

  #takeOver(transport: TransportKind | undefined): void {
    this.transport = transport ?? this.#next ?? this.transport;
    this.#next = null;
  }
}
