/**
 * The port between Troupe and the engine that the hosts of a fleet share: entries, leases, messages, logs and budgets. The
 * memory engine serves one process; Redis, Valkey and NATS serve many machines.
 *
 * The folder `fleet` holds this port, its engines, and the stores that hosts share through it. What every engine promises:
 *
 * E1. An entry that is put with `ifVersion` replaces only that version. Of several such writes at once, one succeeds.
 * E2. What one host has put, every host reads. What was removed is as if it had never been.
 * E3. A watch hears what is there before it begins, then each change. After a lost link it hears everything anew, so the
 *     last value that it hears is the present one; values in between may be missing.
 * E4. A lease has one holder until its deadline, which the holder knows from its own steady clock: `deadline` is never later
 *     than the end that the engine knows. All hosts ask for a name with the same `ttlMs`.
 * E5. Tokens grow from holder to holder, and over a loss of all data. An engine that may have forgotten leases gives none
 *     until one full `ttlMs` has passed.
 * E6. A host is asked by its name. If nobody answers under that name, the question rejects at once.
 * E7. A message is heard at most once by each subscriber, in the order of its publisher.
 * E8. A log keeps its lines in order, and each reader reads on from its cursor. It is kept for one hour at least.
 * E9. Nothing waits for a lost engine: an operation settles within its limit, by default one second. What was rejected
 *     for that reason may still be carried out.
 */
import { TroupeError } from '../errors.js';

/** Why an operation of a fleet failed. */
export type FleetErrorCode =
  /** The engine cannot be reached, does not answer in time, or refuses the operation. */
  | 'engine-unavailable'
  /** No host answers under that name. */
  | 'host-not-found'
  /** The host did not answer in time, or its answer failed. What it was asked for may have happened. */
  | 'host-failed'
  /** The text is longer than 1,000,000 bytes. */
  | 'text-too-long'
  /** The entry was sealed with a key that this host does not have. */
  | 'wrong-key'
  /** The entry was changed by somebody without the key, or stored under another name. */
  | 'entry-broken';

/** An operation of a fleet failed. */
export class FleetError extends TroupeError {
  readonly code: FleetErrorCode;

  /**
   * @param code Why it failed.
   * @param message What happened, for a person.
   */
  constructor(code: FleetErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** An entry of an engine. */
export interface FleetEntry {
  /** What was put last. */
  readonly value: string;
  /** What `put` compares. Only equality means something. */
  readonly version: string;
}

/** What a `put` replaces. */
export interface PutTerms {
  /** The version that must be there; `'0'` stands for no entry. */
  readonly ifVersion?: string;
}

/** The right to be the only one for a time. */
export interface FleetLease {
  /** What the holder is the only one for. */
  readonly name: string;
  /** Who asked for it. */
  readonly holder: string;
  /** Milliseconds from one renewal to the end. */
  readonly ttlMs: number;
  /** Grows from one holder to the next. Compare it as text. */
  readonly token: string;
  /** Milliseconds of `performance.now()`: the holder must have stopped by then. `renew` moves it on. */
  deadline: number;
}

/** A line of a log. */
export interface FleetLine {
  /** From where a reader reads on. */
  readonly cursor: string;
  /** The text that was appended. */
  readonly line: string;
}

/** Ends what an engine was asked to do for a time. Does not reject. */
export type StopFleet = () => Promise<void>;

/**
 * An engine. Names (of keys, leases, topics, hosts, logs, budgets) have 1 to 500 bytes of UTF-8, and values 1,000,000 at most.
 * Operations reject with a {@link FleetError}, or with a `TypeError` for a name or a text that is not well-formed. An error that a callback throws is dropped.
 */
export interface FleetEngine {
  /** Whether the engine can be reached now, as far as is known. */
  readonly isUp: boolean;
  /**
   * The entry of that key; undefined if there is none.
   *
   * @param key The name of the entry.
   */
  get(key: string): Promise<FleetEntry | undefined>;
  /**
   * Stores a value. Resolves to its version; undefined if the entry has another version than `ifVersion`.
   *
   * @param key The name of the entry.
   * @param value Any text.
   * @param terms Which version it replaces. Default: whatever is there.
   */
  put(key: string, value: string, terms?: PutTerms): Promise<string | undefined>;
  /**
   * Removes an entry. No error if there is none.
   *
   * @param key The name of the entry.
   */
  remove(key: string): Promise<void>;
  /**
   * Follows entries. If the engine cannot be reached yet, the watch begins when it can, and resolves then.
   *
   * @param keys One key, or all that begin with this text, which ends with `/`.
   * @param onChange Called with the value, or undefined if the entry is gone.
   */
  watch(keys: string, onChange: (key: string, value: string | undefined) => void): Promise<StopFleet>;
  /**
   * Asks for a lease. Undefined if another holder has it, or if the engine knows too little to give it yet. A holder that
   * asks again gets a new lease in place of its own.
   *
   * @param name What the holder wants to be the only one for.
   * @param holder Who asks; no two processes share such a name.
   * @param ttlMs How long the lease lasts without a renewal, milliseconds.
   */
  acquire(name: string, holder: string, ttlMs: number): Promise<FleetLease | undefined>;
  /**
   * Moves the deadline on. False if the lease is over for certain; rejects if that cannot be known.
   *
   * @param lease As `acquire` gave it.
   */
  renew(lease: FleetLease): Promise<boolean>;
  /**
   * Gives a lease back. No error if it is over.
   *
   * @param lease As `acquire` gave it.
   */
  release(lease: FleetLease): Promise<void>;
  /**
   * Sends a message to everybody who listens now. It is dropped if the engine cannot be reached.
   *
   * @param topic What it is about.
   * @param data Any text.
   */
  publish(topic: string, data: string): void;
  /**
   * Listens to messages. It goes on by itself after a lost link, without the messages in between.
   *
   * @param topics One topic, or all that begin with this text, which ends with `/`.
   * @param onMessage Called with each message.
   */
  subscribe(topics: string, onMessage: (topic: string, data: string) => void): Promise<StopFleet>;
  /**
   * Answers questions to a host.
   *
   * @param host The name of the host; no two processes answer under the same.
   * @param answer Its result is the answer. If it rejects, the question rejects as well.
   */
  answer(host: string, answer: (data: string) => Promise<string>): Promise<StopFleet>;
  /**
   * Asks a host.
   *
   * @param host The name under which it answers.
   * @param data Any text.
   * @param timeoutMs Longest wait for the answer, milliseconds.
   */
  ask(host: string, data: string, timeoutMs: number): Promise<string>;
  /**
   * Appends lines to a log.
   *
   * @param log The name of the log.
   * @param lines In order.
   */
  append(log: string, lines: readonly string[]): Promise<void>;
  /**
   * The lines after a cursor.
   *
   * @param log The name of the log.
   * @param after The cursor of the line that was read last; `'0'` for the beginning.
   */
  read(log: string, after: string): Promise<readonly FleetLine[]>;
  /**
   * Removes a log.
   *
   * @param log The name of the log.
   */
  drop(log: string): Promise<void>;
  /**
   * Takes one from a budget that all hosts share. Resolves to 0, or to the milliseconds after which to ask again.
   *
   * @param budget The name of the budget.
   * @param burst How many can be taken at once.
   * @param everyMs Milliseconds after which one more can be taken.
   */
  take(budget: string, burst: number, everyMs: number): Promise<number>;
  /** Closes every connection and ends every watch. Operations reject from then on. */
  close(): Promise<void>;
}

const MOST_NAME_BYTES = 500;
const MOST_TEXT_BYTES = 1_000_000;

/** Throws a `TypeError` for a name that not every engine can hold. */
export function checkName(name: string): string {
  if (typeof name === 'string' && name !== '' && name.isWellFormed()) {
    if (Buffer.byteLength(name) <= MOST_NAME_BYTES) return name;
  }
  throw new TypeError(`A name in a fleet must be well-formed text of 1 to ${MOST_NAME_BYTES} bytes.`);
}

/** Throws a `FleetError` for a text that not every engine can hold, and a `TypeError` for one that UTF-8 cannot. */
export function checkText(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('A text in a fleet must be well-formed.');
  // A character of UTF-16 takes three bytes at most.
  if (text.length * 3 <= MOST_TEXT_BYTES || Buffer.byteLength(text) <= MOST_TEXT_BYTES) return text;
  throw new FleetError('text-too-long', `A text in a fleet must have ${MOST_TEXT_BYTES} bytes at most.`);
}

/** Throws a `TypeError` for a lease that would end before it could be used. */
export function checkTtl(ttlMs: number): number {
  if (Number.isSafeInteger(ttlMs) && ttlMs >= 100) return ttlMs;
  throw new TypeError('A lease must last a whole number of milliseconds, 100 at least.');
}

/** Whether a name is one that was asked for, or begins with it if that ends with `/`. */
export function isAsked(asked: string, name: string): boolean {
  return asked.endsWith('/') ? name.startsWith(asked) : name === asked;
}

/** Calls a function of the host, whose errors end nothing here. */
export function call<A extends readonly unknown[]>(fn: (...args: A) => unknown, ...args: A): void {
  try {
    fn(...args);
  } catch {
    // Nobody is there to hear of it.
  }
}

export function nobody(host: string): FleetError {
  return new FleetError('host-not-found', `No host answers as '${host}'.`);
}

export function unanswered(host: string): FleetError {
  return new FleetError('host-failed', `The host '${host}' did not answer.`);
}
