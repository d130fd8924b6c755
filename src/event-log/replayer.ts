/**
 * Plays a log in two ways that know nothing of each other, and tells where either parts from it: `rerun.ts` has the real
 * actors do it again, `fold.ts` moves every machine on by itself.
 *
 * Q1. The two must agree with the log, and so with each other: by state, by what followed, and by the check over every
 *     context.
 * Q2. The comparison of an actor ends at its first divergence, and where entries were left out. It begins anew with the
 *     next snapshot.
 * Q3. A log of other charts, or of other policies, is compared by states and by the kinds of what followed: what a context
 *     holds is another thing there.
 * Q4. No log makes it throw: what cannot be played is a divergence.
 */
import type { StateValue } from 'xstate';
import { MANAGER } from './address.js';
import { bodyOf, Chain } from './chain.js';
import { Digest, StandingDigests } from './digest.js';
import { byReceiver, touchedBy } from './deliveries.js';
import {
  contextDifferences,
  isSame,
  isWithin,
  stateText,
  type Divergence,
  type ReplayMethod,
} from './divergence.js';
import type { CauseEntry, Delivery, LogEntry, LogHeader, SnapshotEntry } from './entry.js';
import { Fold } from './fold.js';
import type { MachineState } from './machine-state.js';
import { Rerun, type Consequences } from './rerun.js';

/** More of them are counted and not kept. */
const MOST_DIVERGENCES = 100;

/** Where one of the two has come to at the end of a group. */
interface Outcome {
  readonly method: 'rerun' | 'fold';
  readonly machines: readonly MachineState[];
  readonly digest: Digest;
}

export class Replayer {
  readonly divergences: Divergence[] = [];
  readonly fold: Fold;
  #chain: Chain;
  readonly #digests = new StandingDigests();
  #rerun: Rerun | undefined;
  #whyNoRerun = 'the log holds no entries';
  #group: CauseEntry[] = [];
  /** By method and address: what has parted already. */
  readonly #parted = new Set<string>();
  /** Addresses of machines that entries were left out of, until the next snapshot tells where they stand. */
  readonly #lost = new Set<string>();
  #count = 0;
  #entries = 0;

  /** `hasOtherCharts`: the log was recorded with others than those it is played with. */
  constructor(
    private readonly header: LogHeader,
    private readonly hasOtherCharts = false,
  ) {
    this.#chain = new Chain(header);
    this.fold = new Fold(({ entry, actor, why }) => this.#cannotPlay(entry, 'fold', actor, why));
  }

  /** Entries that were played. */
  get entries(): number {
    return this.#entries;
  }

  /** How many divergences there were, those that are not kept included. */
  get divergenceCount(): number {
    return this.#count;
  }

  /** Why the actors are not run again; undefined while they are. */
  get whyNoRerun(): string | undefined {
    return this.#rerun === undefined ? this.#whyNoRerun : undefined;
  }

  /** The log goes on with another part. */
  nextPart(header: LogHeader): void {
    this.#chain = new Chain(header);
  }

  /** `body` is the text of the entry that its check is over, where that is at hand. */
  take(entry: LogEntry, body: string = bodyOf(entry)): void {
    this.#entries += 1;
    try {
      this.#chain.add(body);
      this.#take(entry);
    } catch (error) {
      const why = error instanceof Error ? error.message : 'it failed without an error';
      this.#cannotPlay(entry, 'both', 'to' in entry ? entry.to : MANAGER, `cannot be played: ${why}`);
      this.#group = [];
    }
  }

  /** Nothing more is played. */
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
    if (!isLost) this.#compareSnapshot(entry, 'fold', this.fold.standing(entry.to));
    this.#verify(entry, entry.check, this.#count > before);
    // What the new charts hold in their contexts, an older one cannot say.
    if (this.hasOtherCharts && !isLost && this.fold.standing(entry.to) !== undefined) return;
    this.#parted.delete(`fold ${entry.to}`);
    this.fold.take(entry);
  }

  /** Only a log in which nothing has happened yet says everything that the actors need. */
  #beginRerun(entry: SnapshotEntry): void {
    this.#whyNoRerun = 'the log begins in the middle';
    if (entry.to !== MANAGER || entry.left > 0) return;
    const rerun = new Rerun(this.header);
    const [manager] = rerun.machines();
    const isAsKnown = this.hasOtherCharts || isSame(manager?.context, entry.context);
    if (isAsKnown && manager?.state === entry.state) {
      this.#rerun = rerun;
    } else rerun.stop();
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
    this.#tell(entry, method, entry.to, {
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
    const why = this.#rerun?.play(entry);
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
    this.#tellUnexplained(last, silent, outcomes.length);
    for (const { method } of odd) for (const to of actors) this.#parted.add(`${method} ${to}`);
  }

  #foldOutcome(touched: ReadonlySet<string>): Outcome {
    const machines: MachineState[] = [];
    for (const to of touched) {
      const standing = this.fold.standing(to);
      if (standing !== undefined) machines.push({ to, ...standing });
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
      this.#tell(entry, method, entry.to, {
        expected: entry.state,
        found,
        message: `after '${entry.event.type}' it is ${stateText(found)} instead of ${stateText(entry.state)}`,
      });
    }
  }

  /** What each machine was told by the others, and in which order, has to be the same. */
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
      this.#tell(last, 'rerun', actor, { message: `was told ${what} by the other machines` });
    }
  }

  #isThere(expected: StateValue, found: StateValue | null): boolean {
    return this.hasOtherCharts && found !== null ? isWithin(expected, found) : isSame(expected, found);
  }

  #isAsTold(wanted: Delivery['event'], got: Delivery['event'] | undefined): boolean {
    return this.hasOtherCharts ? wanted.type === got?.type : isSame(wanted, got);
  }

  /** The states are as they should be, and still the check says otherwise. */
  #tellUnexplained(entry: CauseEntry, odd: readonly Outcome[], methods: number): void {
    const [first] = odd;
    if (first === undefined) return;
    const method = odd.length === methods && methods > 1 ? 'both' : first.method;
    this.#tell(entry, method, entry.to, {
      expected: entry.state,
      found: entry.state,
      message: `after '${entry.event.type}' the check differs: a context is another one, or the log was altered`,
    });
  }

  #verify(entry: LogEntry, check: string, isExplained = false): void {
    if (this.#chain.check === check) return;
    this.#chain.resume(check);
    if (isExplained || this.hasOtherCharts) return;
    const actor = 'to' in entry ? entry.to : MANAGER;
    this.#tell(entry, 'both', actor, { message: 'the check differs: the log was altered' });
  }

  #cannotPlay(entry: LogEntry, method: ReplayMethod, actor: string, why: string): void {
    if (this.#parted.has(`${method} ${actor}`)) return;
    this.#tell(entry, method, actor, { message: why });
  }

  #tell(
    entry: LogEntry,
    method: ReplayMethod,
    actor: string,
    { expected = null, found = null, context = [], message }: Partial<Divergence> & { message: string },
  ): void {
    for (const one of method === 'both' ? ['rerun', 'fold'] : [method]) this.#parted.add(`${one} ${actor}`);
    this.#count += 1;
    if (this.divergences.length === MOST_DIVERGENCES) return;
    const event = 'event' in entry ? entry.event.type : null;
    const text = `Entry ${entry.seq}: ${actor} ${message}.`;
    this.divergences.push({
      entry: entry.seq,
      actor,
      event,
      method,
      expected,
      found,
      context,
      message: text,
    });
  }
}

const NOTHING_HEARD = new Digest();

function toOutcome(heard: Consequences | undefined): Outcome {
  return { method: 'rerun', machines: heard?.machines ?? [], digest: heard?.digest ?? NOTHING_HEARD };
}
