/**
 * Replays a log in two independent ways and reports where either diverges: `rerun.ts` repeats it with the real actors,
 * `fold.ts` moves every machine on by itself. Longer than 300 lines because each kind of difference has its own message.
 *
 * Q1. Both must agree with the log, and so with each other: by state, by consequences, and by the checksum over every
 *     context.
 * Q2. The comparison of an actor ends at its first divergence, and at entries that were left out. It starts again with
 *     the next snapshot.
 * Q3. A log of other charts, or of other policies, is compared by states and by the kinds of consequences, because its
 *     contexts have another content.
 * Q4. No log makes it throw: an entry that cannot be replayed is a divergence.
 */
import type { StateValue } from 'xstate';
import { actorInWords, MANAGER, isMachineAddress } from '../../actor-system/actor-path.js';
import { bodyOf, Chain } from '../format/chain.js';
import { Digest, StateDigests } from '../format/digest.js';
import { contextDifferences, isAlike, stateText, type Divergence, type ReplayMethod } from './divergence.js';
import { isSameJson } from '../../json/json-object.js';
import type { CauseEntry, Delivery, LogEntry, LogHeader, SnapshotEntry } from '../format/entry.js';
import { Fold, foldCharts } from './fold.js';
import { machinesOf, withPolicy, type ReplayAgainst } from './replay-machines.js';
import type { MachineState } from '../record/observed-system.js';
import { isUnstarted, Rerun, rerunCharts, type Consequences, type RerunCharts } from './rerun.js';

/** Further ones are counted and not kept. */
const MAX_DIVERGENCES = 100;

/** The result of one method at the end of a group. */
interface Outcome {
  readonly method: 'rerun' | 'fold';
  readonly machines: readonly MachineState[];
  readonly digest: Digest;
}

export class Replayer {
  readonly divergences: Divergence[] = [];
  readonly fold: Fold;
  #chain: Chain;
  readonly #digests = new StateDigests();
  #rerun: Rerun | undefined;
  #whyNoRerun = 'the log holds no entries';
  #group: CauseEntry[] = [];
  /** By method and address: the actors that have diverged, with the entry of the first divergence. */
  readonly #parted = new Map<string, number>();
  readonly #against: ReplayAgainst | undefined;
  readonly #rerunCharts: RerunCharts | undefined;
  /** Addresses of machines that entries were left out of, until the next snapshot shows their state. */
  readonly #lost = new Set<string>();
  #count = 0;
  #entries = 0;

  /**
   * `hasOtherCharts`: the charts of the log and of the replay differ. `against`: machines and policies to use instead of
   * the ones of this package.
   */
  constructor(
    private readonly header: LogHeader,
    private readonly hasOtherCharts = false,
    against?: ReplayAgainst,
  ) {
    const machines = against && machinesOf(against);
    this.#against = against;
    this.#rerunCharts = machines && rerunCharts(machines);
    this.#chain = new Chain(header);
    this.fold = new Fold(
      ({ entry, actor, why }) => this.#cannotPlay(entry, 'fold', actor, why),
      machines && foldCharts(machines),
    );
  }

  /** Number of replayed entries. */
  get entries(): number {
    return this.#entries;
  }

  /** Number of divergences, including those that are not kept. */
  get divergenceCount(): number {
    return this.#count;
  }

  /** Why the actors are not run; undefined while they are. */
  get whyNoRerun(): string | undefined {
    return this.#rerun === undefined ? this.#whyNoRerun : undefined;
  }

  /** Continues with another part of the log. */
  nextPart(header: LogHeader): void {
    this.#chain = new Chain(header);
  }

  /** `body` is the text that the checksum of the entry covers, if it is available. */
  take(entry: LogEntry, body: string = bodyOf(entry)): void {
    this.#entries += 1;
    try {
      this.#chain.add(body);
      const { policy } = this.#against ?? {};
      this.#take(policy === undefined ? entry : withPolicy(entry, policy));
    } catch (error) {
      const why = error instanceof Error ? error.message : 'it failed without an error';
      this.#cannotPlay(entry, 'both', 'to' in entry ? entry.to : MANAGER, `cannot be replayed: ${why}`);
      this.#group = [];
    }
  }

  /** Ends the replay. */
  end(): void {
    this.#rerun?.stop();
  }

  #take(entry: LogEntry): void {
    if (entry.kind === 'snapshot') this.#takeSnapshot(entry);
    else if (entry.kind === 'note') this.#takeNote(entry);
    else this.#takeCause(entry);
  }

  #takeNote(entry: LogEntry & { readonly kind: 'note' }): void {
    this.#verify(entry, entry.check);
    if (entry.note.type !== 'gap') return;
    this.#endRerun('entries were left out while it was recorded');
    for (const address of this.fold.actors) this.#lost.add(address);
  }

  #takeSnapshot(entry: SnapshotEntry): void {
    const before = this.#count;
    if (this.#entries === 1) this.#beginRerun(entry);
    const isLost = this.#lost.delete(entry.to);
    const now = this.#rerun?.machines().find(({ to }) => to === entry.to);
    this.#compareSnapshot(entry, 'rerun', now);
    if (!isLost) this.#compareSnapshot(entry, 'fold', this.fold.stateOf(entry.to));
    this.#verify(entry, entry.check, this.#count > before);
    // An older log lacks the contents of new charts' contexts.
    if (this.hasOtherCharts && !isLost && this.fold.stateOf(entry.to) !== undefined) return;
    this.#parted.delete(`fold ${entry.to}`);
    this.fold.take(entry);
  }

  /** The actors need a log that begins before the first connection was started. */
  #beginRerun(entry: SnapshotEntry): void {
    this.#whyNoRerun = 'the log begins in the middle';
    if (entry.to !== MANAGER || entry.left > 0 || !isUnstarted(entry.state)) return;
    const rerun = new Rerun(this.header, entry.state, this.#rerunCharts);
    const [manager] = rerun.machines();
    const isAsKnown = this.hasOtherCharts || isSameJson(manager?.context, entry.context);
    if (isAsKnown) this.#rerun = rerun;
    else rerun.stop();
  }

  #endRerun(why: string): void {
    this.#rerun?.stop();
    this.#rerun = undefined;
    this.#whyNoRerun = why;
  }

  #compareSnapshot(
    entry: SnapshotEntry,
    method: 'rerun' | 'fold',
    now: Pick<MachineState, 'status' | 'state' | 'context'> | undefined,
  ): void {
    if (now === undefined || this.#parted.has(`${method} ${entry.to}`)) return;
    const context = this.hasOtherCharts ? [] : contextDifferences(entry.context, now.context);
    const isThere = this.#isThere(entry.state, now.state) && now.status === entry.status;
    if (isThere && context.length === 0) return;
    const fields = context.map(({ field }) => `'${field}'`).join(', ');
    this.#report(entry, method, entry.to, {
      expected: entry.state,
      found: now.state,
      context,
      message: isThere
        ? `at the snapshot, its context differs in ${fields}`
        : `at the snapshot, it is ${stateText(now.state)} (${now.status}) instead of ${stateText(entry.state)} (${entry.status})`,
    });
  }

  #takeCause(entry: CauseEntry): void {
    this.#group.push(entry);
    this.fold.take(entry);
    const why = this.#rerun?.play(entry, this.#against !== undefined);
    if (why !== undefined) this.#cannotPlay(entry, 'rerun', entry.to, why);
    if (entry.check === null) return;
    const group = this.#group;
    this.#group = [];
    this.#compareGroup(group, entry, entry.check);
  }

  #compareGroup(group: readonly CauseEntry[], last: CauseEntry, check: string): void {
    const touched = touchedBy(group);
    const outcomes: Outcome[] = [this.#foldOutcome(touched)];
    const rerun = this.#rerun?.takeConsequences();
    if (this.#rerun !== undefined) outcomes.push(toOutcome(rerun));
    const odd = outcomes.filter(({ digest }) => this.#chain.checkAfter(digest) !== check);
    this.#chain.resume(check);
    for (const { method, machines } of odd) this.#compareStates(group, method, machines);
    if (rerun !== undefined) this.#compareDerived(group, rerun);
    if (odd.length === 0 || this.hasOtherCharts) return;
    const actors = [...touched];
    const silent = odd.filter(({ method }) => !actors.some((to) => this.#parted.has(`${method} ${to}`)));
    this.#reportUnexplained(last, silent, outcomes.length);
    for (const { method } of odd) for (const to of actors) this.#part(method, to, last.seq);
  }

  #foldOutcome(touched: ReadonlySet<string>): Outcome {
    const machines: MachineState[] = [];
    for (const to of touched) {
      const folded = this.fold.stateOf(to);
      if (folded !== undefined) machines.push({ to, ...folded });
    }
    return { method: 'fold', machines, digest: this.#digests.of(machines) };
  }

  #compareStates(
    group: readonly CauseEntry[],
    method: 'rerun' | 'fold',
    machines: readonly MachineState[],
  ): void {
    for (const entry of group) {
      const found = machines.find(({ to }) => to === entry.to)?.state ?? null;
      if (this.#parted.has(`${method} ${entry.to}`) || this.#isThere(entry.state, found)) continue;
      this.#report(entry, method, entry.to, {
        expected: entry.state,
        found,
        message: `after '${entry.event.type}' it is ${stateText(found)} instead of ${stateText(entry.state)}${this.#whyOther(entry)}`,
      });
    }
  }

  /** Each machine must receive the same events from the others, in the same order. */
  #compareDerived(group: readonly CauseEntry[], rerun: Consequences): void {
    const isQuiet = group.every(({ derived }) => derived === undefined);
    if (isQuiet && rerun.derived.length === 0) return;
    const expected = byReceiver(group.flatMap(({ derived = [] }) => derived));
    const found = byReceiver(rerun.derived);
    for (const actor of new Set([...expected.keys(), ...found.keys()])) {
      const [wanted = [], got = []] = [expected.get(actor), found.get(actor)];
      if (this.#parted.has(`rerun ${actor}`)) continue;
      const at = wanted.findIndex((event, index) => !this.#isAsTold(event, got[index]));
      if (at === -1 && wanted.length === got.length) continue;
      const what = at === -1 ? `'${got[wanted.length]?.type}' more` : `no such '${wanted[at]?.type}'`;
      const last = group.at(-1) as CauseEntry;
      this.#report(last, 'rerun', actor, { message: `received ${what} from the other machines` });
    }
  }

  /** A renamed or split effect is a better explanation than the states that follow. */
  #whyOther({ to, event }: CauseEntry): string {
    return this.fold.knows(to, event.type) ? '' : ', whose chart does not know that event';
  }

  #isThere(expected: StateValue, found: StateValue | null): boolean {
    return this.hasOtherCharts && found !== null ? isAlike(expected, found) : isSameJson(expected, found);
  }

  #isAsTold(wanted: Delivery['event'], got: Delivery['event'] | undefined): boolean {
    return this.hasOtherCharts ? wanted.type === got?.type : isSameJson(wanted, got);
  }

  /** The states agree, and still the checksum differs. */
  #reportUnexplained(entry: CauseEntry, odd: readonly Outcome[], methods: number): void {
    const [first] = odd;
    if (first === undefined) return;
    const method = odd.length === methods && methods > 1 ? 'both' : first.method;
    this.#report(entry, method, entry.to, {
      expected: entry.state,
      found: entry.state,
      message: `after '${entry.event.type}' the checksum differs: a context has changed, or the log was altered`,
    });
  }

  #verify(entry: LogEntry, check: string, isExplained = false): void {
    if (this.#chain.check === check) return;
    this.#chain.resume(check);
    if (isExplained || this.hasOtherCharts) return;
    const actor = 'to' in entry ? entry.to : MANAGER;
    this.#report(entry, 'both', actor, { message: 'the checksum differs: the log was altered' });
  }

  #cannotPlay(entry: LogEntry, method: ReplayMethod, actor: string, why: string): void {
    if (this.#parted.has(`${method} ${actor}`)) return;
    this.#report(entry, method, actor, { message: why });
  }

  #report(
    entry: LogEntry,
    method: ReplayMethod,
    actor: string,
    { expected = null, found = null, context = [], message }: Partial<Divergence> & { message: string },
  ): void {
    const cause = this.#causeOf(entry, method, actor);
    for (const one of bothOf(method)) this.#part(one, actor, entry.seq);
    this.#count += 1;
    if (this.divergences.length === MAX_DIVERGENCES) return;
    const event = 'event' in entry ? entry.event.type : null;
    const text = `Entry ${entry.seq}, ${actorInWords(actor)}: ${message}.`;
    const what = { actor, event, method, expected, found, context, cause };
    this.divergences.push({ entry: entry.seq, ...what, message: text });
  }

  #part(method: 'rerun' | 'fold', actor: string, entry: number): void {
    const key = `${method} ${actor}`;
    if (!this.#parted.has(key)) this.#parted.set(key, entry);
  }

  /** The first divergence among the other machines that took part in the step. In the fold, machines do not affect each other. */
  #causeOf(entry: LogEntry, method: ReplayMethod, actor: string): number | null {
    if (method === 'fold' || entry.kind === 'snapshot' || entry.kind === 'note') return null;
    const group = [...this.#group, entry];
    const others = group.flatMap((one) => [
      one.to,
      ...Object.keys(one.moved ?? {}),
      ...(one.derived ?? []).map(({ to }) => to),
    ]);
    const entries = others
      .filter((to) => to !== actor)
      .map((to) => this.#parted.get(`rerun ${to}`))
      .filter((seq) => seq !== undefined);
    return entries.length === 0 ? null : Math.min(...entries);
  }
}

function bothOf(method: ReplayMethod): readonly ('rerun' | 'fold')[] {
  return method === 'both' ? ['rerun', 'fold'] : [method];
}

const NOTHING_HEARD = new Digest();

function toOutcome(heard: Consequences | undefined): Outcome {
  return { method: 'rerun', machines: heard?.machines ?? [], digest: heard?.digest ?? NOTHING_HEARD };
}

/** The machines that received an event. */
export function touchedBy(group: readonly CauseEntry[]): ReadonlySet<string> {
  const touched = new Set<string>();
  for (const { to, derived } of group) {
    if (isMachineAddress(to)) touched.add(to);
    if (derived === undefined) continue;
    for (const delivery of derived) if (isMachineAddress(delivery.to)) touched.add(delivery.to);
  }
  return touched;
}

/** By address, in order. */
export function byReceiver(deliveries: readonly Delivery[]): Map<string, Delivery['event'][]> {
  const events = new Map<string, Delivery['event'][]>();
  for (const { to, event } of deliveries) {
    const own = events.get(to);
    if (own === undefined) events.set(to, [event]);
    else own.push(event);
  }
  return events;
}
