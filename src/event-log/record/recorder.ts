/**
 * Records the events of the machines of a running system, so that they can be replayed.
 *
 * Owns the order of a log: header, snapshots, entries, parts. Does not own the observation (`observed-system.ts`) nor
 * the pace of the sink (`log-writer.ts`).
 *
 * R1. Nothing is written while the machines are processing: a group is written from a microtask, when they are at rest.
 * R2. A part begins with a snapshot of every machine; another one follows every `SNAPSHOT_EVERY` entries.
 * R3. If the sink cannot follow, or an entry is longer than readers accept, entries are left out rather than held. A
 *     note says how many, and a snapshot follows, so that later entries can be replayed; if only notes were left out,
 *     only their number is noted. If the state of a machine is longer than any line, there can be no snapshot of it:
 *     that ends the recording.
 * R4. The last entry is a note that says so, unless the process was killed: so a missing end is detected.
 * R5. An error in here, or in the sink, ends the recording and is reported once. It never reaches an actor.
 */
import type { Clock } from '../../ports.js';
import { Chain, toLine, type Unchecked } from '../format/chain.js';
import {
  MAX_LINE_BYTES,
  type CauseEntry,
  type LogEntry,
  type LogHeader,
  type NoteEntry,
  type SnapshotEntry,
} from '../format/entry.js';
import type { LogSink } from './record-options.js';
import { LogWriter } from './log-writer.js';
import { ObservedSystem, type Group, type ObservableSystem } from './observed-system.js';

/** Number of entries between snapshots. It bounds how much has to be replayed to reach an entry. */
const SNAPSHOT_EVERY = 1_000;
/** A part is at least this many times as long as its first snapshot, however small the limit of the sink. */
const SNAPSHOTS_PER_PART = 4;
/** In characters, each of which has at most three bytes. */
const MAX_BODY = MAX_LINE_BYTES / 3 - 100;

/** Facts for the header that the recorder cannot know. */
export type HeaderFacts = Omit<LogHeader, 'startedAt' | 'part' | 'firstSeq'>;

export interface RecorderParts {
  readonly system: ObservableSystem;
  readonly sink: LogSink;
  readonly clock: Pick<Clock, 'now'>;
  readonly facts: HeaderFacts;
  /** Called with the error that ended the recording. */
  readonly failed: (error: unknown) => void;
}

export class Recorder {
  readonly #parts: RecorderParts;
  readonly #system: ObservedSystem;
  readonly #writer: LogWriter;
  #chain: Chain;
  #part = 0;
  #nextSeq = 1;
  #sincePart = 0;
  /** Size of the header and the first snapshot of the part. */
  #partStart = 0;
  #sinceSnapshot = 0;
  /** Entries that were left out since the sink fell behind. */
  #leftOut = 0;
  /** Notes that were left out since the sink fell behind. */
  #notesLeftOut = 0;
  /** Whether it has stopped observing. */
  #isOver = false;
  #hasFailed = false;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#writer = new LogWriter(parts.sink, (error) => this.#fail(error));
    this.#system = new ObservedSystem(parts.system, {
      first: () => queueMicrotask(() => this.#atRest()),
      error: (error) => this.#fail(error),
    });
    this.#chain = new Chain(this.#header());
  }

  /** Call it while no actor is processing. */
  start(): void {
    this.#system.attach();
    this.#guard(() => this.#beginPart());
  }

  /** Writes a note for people. Call it while no actor is processing. */
  note(note: NoteEntry['note']): void {
    if (this.#isOver) return;
    this.#guard(() => {
      this.#writeGroup();
      if (this.#notesLeftOut > 0 && this.#writer.isDrained) this.#reportNotesLeftOut();
      if (this.#leftOut > 0 || this.#notesLeftOut > 0 || this.#writer.isFull) {
        this.#notesLeftOut += 1;
        return;
      }
      this.#writeNote(note);
      if (this.#isPartFull) this.#rotate();
    });
  }

  /** Writes the rest and closes the sink, however long the sink takes. Never rejects. */
  async close(): Promise<void> {
    if (!this.#isOver) this.#guard(() => this.#writeRest());
    this.#isOver = true;
    this.#system.detach();
    await this.#writer.close();
  }

  #atRest(): void {
    if (this.#isOver) return;
    this.#guard(() => {
      this.#writeGroup();
      if (this.#leftOut > 0 && this.#writer.isDrained) this.#closeGap();
      if (this.#leftOut > 0) return;
      if (this.#notesLeftOut > 0 && this.#writer.isDrained) this.#reportNotesLeftOut();
      if (this.#isPartFull) this.#rotate();
      else if (this.#sinceSnapshot >= SNAPSHOT_EVERY) this.#writeSnapshot();
    });
  }

  get #isPartFull(): boolean {
    const { sink } = this.#parts;
    if (sink.rotate === undefined) return false;
    return this.#sincePart > Math.max(sink.maxSize ?? Infinity, SNAPSHOTS_PER_PART * this.#partStart);
  }

  #writeRest(): void {
    this.#writeGroup();
    if (this.#leftOut > 0) this.#closeGap();
    if (this.#notesLeftOut > 0) this.#reportNotesLeftOut();
    this.#writeNote({ type: 'end' });
  }

  #beginPart(): void {
    this.#part += 1;
    this.#sincePart = 0;
    const header = this.#header();
    this.#chain = new Chain(header);
    this.#write(`${JSON.stringify(header)}\n`);
    this.#writeSnapshot();
    this.#partStart = this.#sincePart;
  }

  #rotate(): void {
    this.#writer.newPart();
    this.#beginPart();
  }

  #header(): LogHeader {
    const { facts, clock } = this.#parts;
    return { ...facts, startedAt: clock.now(), part: this.#part, firstSeq: this.#nextSeq };
  }

  #writeGroup(): void {
    const group = this.#system.takeGroup();
    if (group === undefined) return;
    const bodies = this.#bodiesOf(group);
    const isTooLong = bodies.some(({ length }) => length > MAX_BODY);
    if (this.#leftOut > 0 || isTooLong || this.#writer.isFull) {
      this.#leftOut += bodies.length;
      return;
    }
    this.#nextSeq += bodies.length;
    this.#sinceSnapshot += bodies.length;
    const last = bodies.pop() ?? '';
    for (const body of bodies) {
      this.#chain.add(body);
      this.#write(toLine(body, null));
    }
    this.#chain.add(last);
    this.#chain.rest(group.digest);
    this.#write(toLine(last, this.#chain.check));
  }

  /** In this order, a reader learns the most of a line without parsing it. Undefined fields are left out. */
  #bodiesOf(group: Group): string[] {
    const { causes, machines } = group;
    return causes.map(({ at, kind, to, from, event, timer, derived }, index) => {
      const entry = {
        seq: this.#nextSeq + index,
        at,
        kind,
        to,
        state: machines.find((machine) => machine.to === to)?.state ?? '',
        moved: index === causes.length - 1 ? alsoMoved(group) : undefined,
        from,
        timer,
        event,
        derived: derived.length > 0 ? derived : undefined,
      } satisfies { readonly [Name in keyof Unchecked<CauseEntry>]-?: CauseEntry[Name] | undefined };
      return JSON.stringify(entry);
    });
  }

  /** The sink has caught up: notes what was left out, and continues with a snapshot. */
  #closeGap(): void {
    this.#writeNote({ type: 'gap', leftOut: this.#leftOut });
    this.#leftOut = 0;
    this.#writeSnapshot();
  }

  #reportNotesLeftOut(): void {
    this.#writeNote({ type: 'gap.notes', leftOut: this.#notesLeftOut });
    this.#notesLeftOut = 0;
  }

  #writeNote(note: NoteEntry['note']): void {
    this.#writeEntry<NoteEntry>({ seq: this.#nextSeq, at: this.#parts.clock.now(), kind: 'note', note });
  }

  #writeSnapshot(): void {
    const machines = this.#system.machines();
    const at = this.#parts.clock.now();
    machines.forEach(({ to, status, state, context, details }, index) => {
      this.#writeEntry<SnapshotEntry>({
        seq: this.#nextSeq,
        at,
        kind: 'snapshot',
        to,
        state,
        status,
        context,
        details,
        left: machines.length - 1 - index,
      });
    });
    this.#sinceSnapshot = 0;
  }

  #writeEntry<T extends Exclude<LogEntry, CauseEntry>>(entry: Omit<T, 'check'>): void {
    const body = JSON.stringify(entry);
    const { to = 'a note' } = entry as { readonly to?: string };
    if (isBeyondLine(body)) throw new Error(`The state of '${to}' is longer than the limit of a line.`);
    this.#chain.add(body);
    this.#nextSeq += 1;
    this.#write(toLine(body, this.#chain.check));
  }

  #write(line: string): void {
    this.#sincePart += line.length;
    this.#writer.write(line);
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#isOver = true;
    this.#system.detach();
    this.#parts.failed(error);
  }
}

/** Includes the checksum and the line feed. Few lines are long enough to be measured. */
function isBeyondLine(body: string): boolean {
  return body.length > MAX_BODY && Buffer.byteLength(body) > MAX_LINE_BYTES - 100;
}

/** The states of machines that changed without receiving a cause themselves. */
function alsoMoved({ causes, machines, moved }: Group): CauseEntry['moved'] {
  if (moved.size === 0) return undefined;
  const others = machines.filter(({ to }) => moved.has(to) && !causes.some((cause) => cause.to === to));
  return others.length === 0 ? undefined : Object.fromEntries(others.map(({ to, state }) => [to, state]));
}
