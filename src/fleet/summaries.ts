/**
 * What hosts say of their servers, for a page that shows all hosts.
 *
 * S1. A host publishes a summary every five seconds, and only while an entry `viewer/ID` lives, which a viewer renews. While
 *     nobody looks, nothing is made and nothing is sent.
 * S2. A summary is sealed, and has no text of a server or of a person: names, states, codes and numbers.
 * S3. A time is the milliseconds that have passed, since two machines may have different clocks.
 */
import { randomBytes } from 'node:crypto';
import type { ConnectionState } from '../../machines/connection/connection.states.js';
import { systemClock, type Clock } from '../ports.js';
import type { FleetEngine, StopFleet } from './engine.js';
import type { FleetKey } from './fleet-key.js';
import { LivingEntries } from './living-entries.js';
import { RepeatedEntry } from './repeated-entry.js';
import { SealedEntries } from './sealed-entries.js';

/** One server of one host. */
export interface SummaryRow {
  readonly server: string;
  readonly state: ConnectionState;
  /** Milliseconds since its state changed; null if it has not since the host began. */
  readonly forMs: number | null;
  /** Code of the failure for which it waits or has failed; null if nothing is wrong. */
  readonly code: string | null;
  /** Sessions after the first. */
  readonly restarts: number;
}

/** A part of a summary. The parts of one come in order. */
interface SummaryPart {
  readonly from: number;
  readonly total: number;
  readonly rows: readonly SummaryRow[];
}

const TOPICS = 'summary/';
const VIEWERS = 'viewer/';
const EVERY_MS = 5_000;
/** So that no message is longer than engines take. */
const ROWS_OF_PART = 1_000;

export interface SummarySenderParts {
  readonly engine: FleetEngine;
  readonly key: FleetKey;
  readonly self: string;
  readonly clock: Clock;
  readonly rows: () => readonly SummaryRow[];
}

/** The side of a host. */
export class SummarySender {
  readonly #parts: SummarySenderParts;
  readonly #viewers: LivingEntries<object>;
  #viewing = 0;
  #timer: unknown;

  constructor(parts: SummarySenderParts) {
    this.#parts = parts;
    this.#viewers = new LivingEntries({
      ...parts,
      prefix: VIEWERS,
      onChange: ({ size }) => {
        const isMore = size > this.#viewing;
        this.#viewing = size;
        if (isMore) this.#send();
      },
    });
  }

  stop(): void {
    this.#viewers.stop();
    this.#parts.clock.clearTimeout(this.#timer);
  }

  #send(): void {
    const { engine, key, self, clock } = this.#parts;
    clock.clearTimeout(this.#timer);
    if (this.#viewing === 0) return;
    this.#timer = clock.setTimeout(() => this.#send(), EVERY_MS);
    const rows = this.#parts.rows();
    for (let from = 0; from === 0 || from < rows.length; from += ROWS_OF_PART) {
      const part: SummaryPart = {
        from,
        total: rows.length,
        rows: rows.slice(from, from + ROWS_OF_PART),
      };
      engine.publish(TOPICS + self, key.seal(TOPICS + self, JSON.stringify(part)));
    }
  }
}

export interface SummaryReaderParts {
  readonly engine: FleetEngine;
  readonly key: FleetKey;
  readonly clock?: Clock;
  /** Called with the whole summary of a host. */
  readonly onSummary: (host: string, rows: readonly SummaryRow[]) => void;
}

/** The side of a viewer. */
export class SummaryReader {
  readonly #entry: RepeatedEntry;
  readonly #subscribed: Promise<StopFleet>;
  /** Rows of summaries that are not whole yet. */
  readonly #begun = new Map<string, SummaryRow[]>();

  constructor({ engine, key, clock = systemClock, onSummary }: SummaryReaderParts) {
    const name = VIEWERS + randomBytes(8).toString('hex');
    this.#entry = new RepeatedEntry({ entries: new SealedEntries(engine, key), name, clock });
    this.#subscribed = engine.subscribe(TOPICS, (topic, sealed) => {
      const part = opened(key, topic, sealed);
      const host = topic.slice(TOPICS.length);
      const rows = part === undefined ? undefined : this.#joined(host, part);
      if (rows !== undefined) onSummary(host, rows);
    });
    // It rejects only if the engine is closed.
    this.#subscribed.then(
      () => this.#entry.say({}),
      () => {},
    );
  }

  async close(): Promise<void> {
    await this.#entry.end();
    await this.#subscribed.then((stop) => stop()).catch(() => {});
  }

  /** All rows, once they are there. After a lost part, the rest of its summary is dropped. */
  #joined(host: string, { from, total, rows }: SummaryPart): readonly SummaryRow[] | undefined {
    const before = from === 0 ? [] : this.#begun.get(host);
    if (before?.length !== from) {
      this.#begun.delete(host);
      return undefined;
    }
    const now = [...before, ...rows];
    if (now.length < total) {
      this.#begun.set(host, now);
      return undefined;
    }
    this.#begun.delete(host);
    return now;
  }
}

function opened(key: FleetKey, topic: string, sealed: string): SummaryPart | undefined {
  try {
    return JSON.parse(key.open(topic, sealed)) as SummaryPart;
  } catch {
    // Of somebody without the key.
    return undefined;
  }
}
