/**
 * Writes down what the machines of a running system are told, so that it can be played again.
 *
 * Owns the order of a log: header, snapshots, entries, parts. Does not own what is heard (`observed-system.ts`) nor the
 * pace of the sink (`log-writer.ts`).
 *
 * R1. Nothing is written while the machines are at work: a group is written from a microtask, when they are at rest.
 * R2. A part begins with a snapshot of every machine; another one follows every `SNAPSHOT_EVERY` entries.
 * R3. Where the sink cannot follow, or an entry is longer than any reader takes, entries are left out rather than
 *     held. A note tells how many, then a snapshot follows, so that what comes after can be played; of notes alone that
 *     were left out, only how many. Where a machine holds more than any line can, there is no snapshot of it: that ends
 *     the recording.
 * R4. The last entry is a note that says so, unless the process was killed: what is missing before it shows.
 * R5. An error in here, or in the sink, ends the recording and is told once. It never reaches an actor.
 */
import type { Clock } from '../ports.js';
import { Chain, toLine, type Unchecked } from './chain.js';
import type { CauseEntry, LogEntry, LogHeader, NoteEntry, SnapshotEntry } from './entry.js';
import type { LogSink } from './log-sink.js';
import { LogWriter } from './log-writer.js';
import { ObservedSystem, type Group, type ObservableSystem } from './observed-system.js';
import { LONGEST_LINE_BYTES } from './read-log.js';

/** A snapshot comes after so many entries, which bounds what has to be played to reach any of them. */
const SNAPSHOT_EVERY = 1_000;
/** In characters, of which each has at most three bytes. */
const LONGEST_BODY = LONGEST_LINE_BYTES / 3 - 100;

/** What the header says that the recorder cannot know. */
export type HeaderFacts = Omit<LogHeader, 'startedAt' | 'part' | 'firstSeq'>;

export interface RecorderParts {
  readonly system: ObservableSystem;
  readonly sink: LogSink;
  readonly clock: Pick<Clock, 'now'>;
  readonly facts: HeaderFacts;
  /** The recording is over, with the error that ended it. */
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
  #sinceSnapshot = 0;
  /** Entries that were left out since the sink fell behind. */
  #leftOut = 0;
  /** The same, of notes. */
  #notesLeftOut = 0;
  /** Nothing is listened to any more. */
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

  /** To be called while no actor is processing. */
  start(): void {
    this.#system.attach();
    this.#guard(() => this.#beginPart());
  }

  /** Writes something for people. To be called while no actor is processing. */
  note(note: NoteEntry['note']): void {
    if (this.#isOver) return;
    this.#guard(() => {
      this.#writeGroup();
      if (this.#notesLeftOut > 0 && this.#writer.isDrained) this.#tellNotesLeftOut();
      if (this.#leftOut > 0 || this.#notesLeftOut > 0 || this.#writer.isFull) {
        this.#notesLeftOut += 1;
        return;
      }
      this.#writeNote(note);
      if (this.#sincePart > this.#maxSize) this.#rotate();
    });
  }

  /** Writes what is left and closes the sink. Takes as long as the sink does; never rejects. */
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
      if (this.#notesLeftOut > 0 && this.#writer.isDrained) this.#tellNotesLeftOut();
      if (this.#sincePart > this.#maxSize) this.#rotate();
      else if (this.#sinceSnapshot >= SNAPSHOT_EVERY) this.#writeSnapshot();
    });
  }

  get #maxSize(): number {
    const { sink } = this.#parts;
    return sink.rotate === undefined ? Infinity : (sink.maxSize ?? Infinity);
  }

  #writeRest(): void {
    this.#writeGroup();
    if (this.#leftOut > 0) this.#closeGap();
    if (this.#notesLeftOut > 0) this.#tellNotesLeftOut();
    this.#writeNote({ type: 'end' });
  }

  #beginPart(): void {
    this.#part += 1;
    this.#sincePart = 0;
    const header = this.#header();
    this.#chain = new Chain(header);
    this.#write(`${JSON.stringify(header)}\n`);
    this.#writeSnapshot();
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
    const isTooLong = bodies.some(({ length }) => length > LONGEST_BODY);
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

  /** Written in this order, which lets a reader see the most of a line at a glance; what is undefined is left out. */
  #bodiesOf(group: Group): string[] {
    const { causes, machines } = group;
    return causes.map(({ at, kind, to, from, event, timer, derived }, index) => {
      const entry = {
        seq: this.#nextSeq + index,
        at,
        kind,
        to,
        state: machines.find((machine) => machine.to === to)?.state ?? '',
        moved: index === causes.length - 1 ? movedBeside(group) : undefined,
        from,
        timer,
        event,
        derived: derived.length > 0 ? derived : undefined,
      } satisfies { readonly [Name in keyof Unchecked<CauseEntry>]-?: CauseEntry[Name] | undefined };
      return JSON.stringify(entry);
    });
  }

  /** The sink has caught up: what was left out is told, and the story goes on from where the machines stand. */
  #closeGap(): void {
    this.#writeNote({ type: 'gap', leftOut: this.#leftOut });
    this.#leftOut = 0;
    this.#writeSnapshot();
  }

  #tellNotesLeftOut(): void {
    this.#writeNote({ type: 'gap.notes', leftOut: this.#notesLeftOut });
    this.#notesLeftOut = 0;
  }

  #writeNote(note: NoteEntry['note']): void {
    this.#writeEntry<NoteEntry>({ seq: this.#nextSeq, at: this.#parts.clock.now(), kind: 'note', note });
  }

  #writeSnapshot(): void {
    const machines = this.#system.machines();
    const at = this.#parts.clock.now();
    machines.forEach(({ to, status, state, context }, index) => {
      this.#writeEntry<SnapshotEntry>({
        seq: this.#nextSeq,
        at,
        kind: 'snapshot',
        to,
        state,
        status,
        context,
        left: machines.length - 1 - index,
      });
    });
    this.#sinceSnapshot = 0;
  }

  #writeEntry<T extends Exclude<LogEntry, CauseEntry>>(entry: Omit<T, 'check'>): void {
    const body = JSON.stringify(entry);
    const { to = 'a note' } = entry as { readonly to?: string };
    if (isBeyondLine(body)) throw new Error(`What '${to}' holds is longer than any line.`);
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

/** With its check and its line feed; few are long enough to be measured. */
function isBeyondLine(body: string): boolean {
  return body.length > LONGEST_BODY && Buffer.byteLength(body) > LONGEST_LINE_BYTES - 100;
}

/** The states of those that came to another one without being told by the causes themselves. */
function movedBeside({ causes, machines, moved }: Group): CauseEntry['moved'] {
  if (moved.size === 0) return undefined;
  const beside = machines.filter(({ to }) => moved.has(to) && !causes.some((cause) => cause.to === to));
  return beside.length === 0 ? undefined : Object.fromEntries(beside.map(({ to, state }) => [to, state]));
}
