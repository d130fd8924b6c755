/**
 * Plays a log in two ways that know nothing of each other, and tells where either parts from it: `rerun.ts` has the real
 * actors do it again, `fold.ts` moves every machine on by itself.
 *
 * Q1. The two must agree with the log, and so with each other: by state, by what followed, and by the check over every
 *     context.
 * Q2. The comparison of an actor ends at its first divergence, and begins anew with the next snapshot.
 * Q3. No log makes it throw: what cannot be played is a divergence.
 */
import { isMachineAddress } from './address-book.js';
import { MANAGER } from './address.js';
import { bodyOf, Chain } from './chain.js';
import { ContextDigests } from './digest.js';
import { contextDifferences, isSame, stateText, type Divergence, type ReplayMethod } from './divergence.js';
import type { CauseEntry, Delivery, LogEntry, LogHeader, SnapshotEntry } from './entry.js';
import { Fold } from './fold.js';
import { statesDigest, type Group, type MachineState } from './observed-system.js';
import { Rerun } from './rerun.js';

/** More of them are counted and not kept. */
const MOST_DIVERGENCES = 100;

/** Where one of the two has come to at the end of a group. */
interface Outcome {
  readonly method: 'rerun' | 'fold';
  readonly states: ReadonlyMap<string, unknown>;
  readonly digest: string;
}

export class Replayer {
  readonly divergences: Divergence[] = [];
  readonly fold: Fold;
  readonly #chain: Chain;
  readonly #contexts = new ContextDigests();
  #rerun: Rerun | undefined;
  #whyNoRerun = 'the log holds no entries';
  #group: CauseEntry[] = [];
  /** By method and address: what has parted already. */
  readonly #parted = new Set<string>();
  #count = 0;
  #entries = 0;

  constructor(private readonly header: LogHeader) {
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

  take(entry: LogEntry): void {
    this.#entries += 1;
    try {
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
    if (entry.note.type === 'gap') this.#endRerun('entries were left out while it was recorded');
  }

  #takeSnapshot(entry: SnapshotEntry): void {
    const before = this.#count;
    if (this.#entries === 1) this.#beginRerun(entry);
    const now = this.#rerun?.machines().find(({ to }) => to === entry.to);
    this.#compareSnapshot(entry, 'rerun', now);
    this.#compareSnapshot(entry, 'fold', this.fold.standing(entry.to));
    this.#verify(entry, entry.check, this.#count > before);
    this.#parted.delete(`fold ${entry.to}`);
    this.fold.take(entry);
  }

  /** Only a log in which nothing has happened yet says everything that the actors need. */
  #beginRerun(entry: SnapshotEntry): void {
    this.#whyNoRerun = 'the log begins in the middle';
    if (entry.to !== MANAGER || entry.left > 0) return;
    const rerun = new Rerun(this.header);
    const [manager] = rerun.machines();
    if (manager !== undefined && isSame(manager.context, entry.context) && manager.state === entry.state) {
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
    const context = contextDifferences(entry.context, now.context);
    const isThere = isSame(now.state, entry.state) && now.status === entry.status;
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
    this.#chain.add(bodyOf(entry));
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
    const before = this.#chain.check;
    const told = group.flatMap((entry) => [entry, ...(entry.derived ?? [])]);
    const touched = [...new Set(told.map(({ to }) => to).filter(isMachineAddress))].toSorted();
    const outcomes: Outcome[] = [this.#foldOutcome(touched)];
    const rerun = this.#rerun?.takeGroup();
    if (this.#rerun !== undefined) outcomes.push(toOutcome(rerun));
    const odd = outcomes.filter(({ digest }) => {
      this.#chain.resume(before);
      this.#chain.add(digest);
      return this.#chain.check !== check;
    });
    this.#chain.resume(check);
    for (const { method, states } of odd) this.#compareStates(group, method, states);
    if (rerun !== undefined) this.#compareDerived(group, rerun);
    const silent = odd.filter(({ method }) => !touched.some((to) => this.#parted.has(`${method} ${to}`)));
    this.#tellUnexplained(last, silent, outcomes.length);
    for (const { method } of odd) for (const to of touched) this.#parted.add(`${method} ${to}`);
  }

  #foldOutcome(touched: readonly string[]): Outcome {
    const machines = touched.flatMap((to) => {
      const standing = this.fold.standing(to);
      return standing === undefined ? [] : [{ to, ...standing }];
    });
    const states = new Map(machines.map(({ to, state }) => [to, state]));
    return { method: 'fold', states, digest: statesDigest(machines, this.#contexts) };
  }

  #compareStates(
    group: readonly CauseEntry[],
    method: 'rerun' | 'fold',
    states: ReadonlyMap<string, unknown>,
  ): void {
    for (const entry of group) {
      const found = (states.get(entry.to) ?? null) as Divergence['found'];
      if (this.#parted.has(`${method} ${entry.to}`) || isSame(found, entry.state)) continue;
      this.#tell(entry, method, entry.to, {
        expected: entry.state,
        found,
        message: `after '${entry.event.type}' it is ${stateText(found)} instead of ${stateText(entry.state)}`,
      });
    }
  }

  /** What each machine was told by the others, and in which order, has to be the same. */
  #compareDerived(group: readonly CauseEntry[], rerun: Group): void {
    const expected = byReceiver(group.flatMap(({ derived = [] }) => derived));
    const found = byReceiver(rerun.causes.flatMap(({ derived }) => derived));
    for (const actor of new Set([...expected.keys(), ...found.keys()])) {
      const [wanted = [], got = []] = [expected.get(actor), found.get(actor)];
      if (this.#parted.has(`rerun ${actor}`) || isSame(wanted, got)) continue;
      const at = wanted.findIndex((event, index) => !isSame(event, got[index]));
      const what = at === -1 ? `'${got[wanted.length]?.type}' more` : `no such '${wanted[at]?.type}'`;
      const last = group.at(-1) as CauseEntry;
      this.#tell(last, 'rerun', actor, { message: `was told ${what} by the other machines` });
    }
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
    this.#chain.add(bodyOf(entry));
    if (this.#chain.check === check) return;
    this.#chain.resume(check);
    if (isExplained) return;
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

function toOutcome(group: Group | undefined): Outcome {
  return { method: 'rerun', states: group?.states ?? new Map(), digest: group?.digest ?? '' };
}

function byReceiver(deliveries: readonly Delivery[]): Map<string, Delivery['event'][]> {
  const events = new Map<string, Delivery['event'][]>();
  for (const { to, event } of deliveries) events.set(to, [...(events.get(to) ?? []), event]);
  return events;
}
