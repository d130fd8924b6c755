/**
 * The life of a connection as the page on it tells it, knowing nothing of the chart: what a person would expect after
 * each event. The moves are rows of that page; the words that stand in them are given their meaning here.
 *
 * Coarse where the page is: it tells whether a command is obeyed, not why it is not.
 *
 * Longer than most files because every word of the page has its meaning here.
 */
import type { ConnectionCommand, StopIntent, TransportKind } from '../../machines/connection.events.js';
import type { Verdict } from '../../machines/policy/failure.js';
import type { ConnectionPolicy } from '../../machines/policy/policy.js';
import { PLAIN_POLICY } from '../support/connection-driver.js';
import type { LifecyclePage, Move } from './lifecycle-page.js';

export const BACKOFF_MS = 1_000;

/** Small numbers, so that a short story meets every limit. */
export const MODEL_POLICY: ConnectionPolicy = {
  ...PLAIN_POLICY,
  maxAttempts: 3,
  backoff: { kind: 'fixed', delaysMs: [BACKOFF_MS] },
  intensity: { restarts: 3, periodMs: 6_000 },
  immediateRetryWindowMs: 8_000,
  exhausted: { callAfterMs: 2_000, remoteEveryMs: 8_000 },
  listChanged: { debounceMs: 300, maxWaitMs: 900 },
};

export interface Start {
  readonly transport: TransportKind;
  readonly wanted: boolean;
  readonly online: boolean;
}

/** What is known of that which happens. */
export interface Particulars {
  readonly outcome?: 'untrusted' | 'dormant';
  readonly verdict?: Verdict;
  /** The failure says that the session could not be proven gone in time. */
  readonly isLate?: boolean;
  /** The failure says that the server refuses a second session. */
  readonly isSecondRefused?: boolean;
  /** Of the new entry. */
  readonly transport?: TransportKind;
  /** The delay that the connection has drawn; the model cannot know it. */
  readonly drawnMs?: number;
}

const REGIONS = ['ready.liveness', 'ready.catalog', 'ready.extras', 'ready.succession'] as const;

const isWithin = (state: string, outer: string): boolean => state === outer || state.startsWith(`${outer}.`);

/** The region of a state that is one of several at the same time; else the state's own part of the page. */
const regionOf = (state: string): string => REGIONS.find((region) => isWithin(state, region)) ?? 'all';

/** Which public state may follow on which, by the rows of the page. */
export function legalMoves({ moves, states }: LifecyclePage): ReadonlyMap<string, ReadonlySet<string>> {
  const top = (state: string): string => state.split('.')[0]!;
  const tops = [...new Set(states.map(({ state }) => top(state)))];
  const legal = new Map(tops.map((state) => [state, new Set<string>()]));
  for (const { in: sources, to } of moves) {
    if (to === '') continue;
    const from = sources.flatMap((source) =>
      source === 'any' ? tops.filter((state) => state !== 'stopped') : [top(source)],
    );
    for (const source of from) legal.get(source)!.add(top(to));
  }
  return legal;
}

export class LifecycleModel {
  transport: TransportKind;
  attempt = 0;
  generation = 0;
  /** Rows of the page that have counted. */
  readonly used = new Set<Move>();
  readonly #page: LifecyclePage;
  #active: string[] = ['configuring.resolving'];
  #issued = 0;
  #wanted: boolean;
  #online: boolean;
  #isGone = true;
  #isUnasked = false;
  #intent: StopIntent | null = null;
  #lastFailure: { readonly verdict: Verdict; readonly isLate: boolean; readonly at: number } | null = null;
  #losses: number[] = [];
  #delayMs = 0;
  #now = 0;
  #next: TransportKind | null = null;
  #isRetiring = false;
  readonly #changedAt = new Map<string, number>();
  readonly #waits = new Map<string, number>();

  constructor(start: Start, page: LifecyclePage) {
    this.#page = page;
    this.transport = start.transport;
    this.#wanted = start.wanted;
    this.#online = start.online;
  }

  /** The states it is in, sorted: one, or one for each thing that goes on while ready. */
  get states(): readonly string[] {
    return this.#active.toSorted();
  }

  get isReady(): boolean {
    return this.#isIn('ready');
  }

  /** The effects that these states ask for, sorted. */
  get effects(): string[] {
    const running = this.#rowsOfActive().flatMap(({ runs }) => runs || []);
    return [...running, ...(this.isReady ? ['watchSession'] : [])].toSorted();
  }

  /** Whether something of a session may be alive, by the page. */
  get session(): string {
    return this.#rowsOfActive()[0]!.session;
  }

  /** Whether it is obeyed. */
  command({ type, ...more }: ConnectionCommand): boolean {
    return this.happens(
      type.replace('connection.', ''),
      'transport' in more ? { transport: more.transport } : {},
    );
  }

  /** A command or a fact, told to every state that it is in. Whether anything came of it. */
  happens(what: string, particulars: Particulars = {}): boolean {
    const inside = this.#active.map((state) =>
      this.#firstMove(what, [state, ...regionOrNone(state)], particulars),
    );
    const found = inside.filter((move) => move !== undefined);
    const top = this.#active[0]!.split('.')[0]!;
    const outer = top === 'stopped' ? [] : [top, 'any'];
    const moves = found.length > 0 ? found : [this.#firstMove(what, outer, particulars)];
    for (const move of new Set(moves)) if (move !== undefined) this.#take(move, what, particulars);
    return moves.some((move) => move !== undefined && (move.to !== '' || move.and.length > 0));
  }

  /** An effect has ended, in the state that runs it. */
  ends(effect: string, how: 'succeeds' | 'fails', particulars: Particulars = {}): void {
    const state = this.#rowsOfActive().find(({ runs }) => runs === effect)!.state;
    const move = this.#firstMove(how, [state, ...regionOrNone(state)], particulars);
    if (move !== undefined) this.#take(move, how, particulars);
  }

  /** Would a call cause another try? */
  get mayTryForCall(): boolean {
    return this.#firstMove('call.waiting', this.#active, {}) !== undefined;
  }

  pass(ms: number): void {
    const end = this.#now + ms;
    for (let due = this.#nextWait(end); due !== undefined; due = this.#nextWait(end)) {
      const [region, at] = due;
      this.#now = at;
      this.#waits.delete(region);
      const state = this.#active.find((each) => regionOf(each) === region)!;
      const move = this.#firstMove('waited', [state], {});
      if (move !== undefined) this.#take(move, 'waited', {});
    }
    this.#now = end;
  }

  #nextWait(end: number): [string, number] | undefined {
    return [...this.#waits].filter(([, at]) => at <= end).toSorted(([, a], [, b]) => a - b)[0];
  }

  #rowsOfActive() {
    return this.#page.states.filter(({ state }) => this.#active.includes(state));
  }

  #isIn(outer: string): boolean {
    return this.#active.some((state) => isWithin(state, outer));
  }

  /** The first row whose `if` is so; of the first of these states that has one. */
  #firstMove(what: string, states: readonly string[], particulars: Particulars): Move | undefined {
    for (const state of states) {
      const found = this.#page.moves.find(
        (move) =>
          move.in.includes(state) &&
          move.when.includes(what) &&
          move.if.every((condition) => this.#isSo(condition, state, what, particulars)),
      );
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #take(move: Move, what: string, particulars: Particulars): void {
    this.used.add(move);
    const region = regionOf(move.to === '' ? (move.in[0] ?? '') : move.to);
    const wasShuttingDown = this.#isIn('shuttingDown');
    const isLoss = this.isReady && (what === 'session.lost' || what === 'fails');
    if (move.to !== '') this.#leaveFor(move.to);
    for (const change of move.and) this.#change(change, region, isLoss, particulars);
    if (wasShuttingDown && !this.#isIn('shuttingDown')) this.#intent = null;
    if (move.to !== '') this.#arrive(move.to, particulars);
  }

  #leaveFor(target: string): void {
    const region = regionOf(target);
    if (region === 'all') {
      this.#waits.clear();
      this.#active = target === 'ready' ? REGIONS.map((each) => this.#firstStateOf(each)) : [target];
    } else {
      this.#waits.delete(region);
      this.#active = this.#active.map((state) => (regionOf(state) === region ? target : state));
    }
  }

  /** The first that the page tells of it. */
  #firstStateOf(region: string): string {
    return this.#page.states.find(({ state }) => isWithin(state, region))!.state;
  }

  #arrive(target: string, particulars: Particulars): void {
    const entered = target === 'ready' ? ['ready', ...this.#active] : [target];
    for (const what of ['entered', 'at once']) {
      for (const state of entered) {
        const move = this.#firstMove(what, [state], particulars);
        if (move !== undefined) this.#take(move, what, particulars);
      }
    }
  }

  #isSo(condition: string, state: string, what: string, particulars: Particulars): boolean {
    if (condition.startsWith('not ')) return !this.#isSo(condition.slice(4), state, what, particulars);
    const { outcome, verdict } = particulars;
    const { maxAttempts, exhausted, listChanged } = MODEL_POLICY;
    const changedAt = this.#changedAt.get(regionOf(state));
    switch (condition) {
      case 'untrusted':
      case 'dormant':
        return outcome === condition;
      case 'sign-in':
        return verdict === 'authorize';
      case 'hopeless':
        return verdict === 'permanent';
      case 'out of attempts':
        return this.attempt >= maxAttempts && !(this.isReady && verdict === 'renew');
      case 'crash loop':
        return this.#isTooOften() && verdict !== 'renew';
      case 'may pass':
        return this.#lastFailure?.verdict === 'retry' || this.#lastFailure?.verdict === 'renew';
      case 'released late':
        return this.#lastFailure?.isLate === true;
      case 'remote':
        return this.#isRemote;
      case 'tried for ever':
        return exhausted.remoteEveryMs > 0;
      case 'online':
        return this.#online;
      case 'queues':
        return this.transport === 'stdio' || (this.#isUnasked && this.#isRemote);
      case 'wanted':
        return this.#wanted;
      case 'gone':
        return this.#isGone;
      case 'to return':
        return this.#intent === 'restart' || this.#intent === 'reload' || this.#intent === 'idle';
      case 'to rest':
        return this.#intent === 'idle';
      case 'long since':
        return this.#now - (this.#lastFailure?.at ?? Infinity) >= exhausted.callAfterMs;
      case 'changed meanwhile':
        return changedAt !== undefined;
      case 'may wait':
        return this.#now + listChanged.debounceMs - (changedAt ?? this.#now) <= listChanged.maxWaitMs;
      case 'side by side':
        return this.transport !== 'stdio' && particulars.transport !== 'stdio';
      case 'in turn':
        return verdict === 'authorize' || particulars.isSecondRefused === true;
      case 'outdated':
        return this.#next !== null;
      case 'retiring':
        return this.#isRetiring;
      default:
        return this.#isIn(condition);
    }
  }

  #change(change: string, region: string, isLoss: boolean, particulars: Particulars): void {
    const { maxAttempts, listChanged } = MODEL_POLICY;
    const { verdict = 'permanent', isLate = false, drawnMs = 0 } = particulars;
    switch (change) {
      case 'an attempt':
        this.attempt = Math.min(this.attempt + 1, maxAttempts);
        this.#wanted = true;
        this.#takeOver(undefined);
        return;
      case 'a session':
        this.#issued += 1;
        this.generation = this.#issued;
        this.#isGone = false;
        return;
      case 'gone':
        this.#isGone = true;
        this.#isRetiring = false;
        return;
      case 'failed':
        this.#fail(verdict, isLate, isLoss);
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
        this.#lastFailure = null;
        return;
      case 'wait':
        this.#waits.set(region, this.#now + (region === 'all' ? this.#delayMs : listChanged.debounceMs));
        return;
      case 'wait anew':
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
        this.#wanted = true;
        return;
      case 'start over':
        this.#startOver();
        return;
      case 'forget attempts':
        this.attempt = 0;
        return;
      case 'one more try':
      case 'one more try unasked':
        this.attempt = maxAttempts - 1;
        this.#delayMs = 0;
        this.#isUnasked = change === 'one more try unasked';
        return;
      case 'to stop':
      case 'to reload':
        this.#intent = change === 'to stop' ? 'stop' : 'reload';
        return;
      case 'to restart':
      case 'to rest':
        this.#intent = change === 'to rest' ? 'idle' : 'restart';
        this.#wanted = change === 'to restart';
        return;
      case 'by the new entry':
        this.#takeOver(particulars.transport);
        return;
      case 'plan a successor':
        this.#next = particulars.transport ?? null;
        this.#issued += 1;
        return;
      case 'succeed':
        this.generation = this.#issued;
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
        this.#online = change === 'online';
        return;
      case 'keep the old':
      case 'other numbers':
        return;
      default:
        throw new Error(`The page says '${change}', which is not known here.`);
    }
  }

  get #isRemote(): boolean {
    return this.transport === 'http' || this.transport === 'sse';
  }

  #isTooOften(): boolean {
    const { restarts, periodMs } = MODEL_POLICY.intensity;
    return this.#losses.filter((at) => this.#now - at <= periodMs).length + 1 >= restarts;
  }

  /** A crash loop does not pass by itself, whatever each loss was. */
  #fail(verdict: Verdict, isLate: boolean, isLoss: boolean): void {
    const isCrashLoop = isLoss && verdict !== 'renew' && this.#isTooOften();
    this.#lastFailure = isCrashLoop
      ? { verdict: 'permanent', isLate: false, at: this.#now }
      : { verdict, isLate, at: this.#now };
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
    this.#delayMs = 0;
    this.#isUnasked = false;
  }

  #takeOver(transport: TransportKind | undefined): void {
    this.transport = transport ?? this.#next ?? this.transport;
    this.#next = null;
  }
}

function regionOrNone(state: string): string[] {
  const region = regionOf(state);
  return region === 'all' ? [] : [region];
}
