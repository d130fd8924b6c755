/**
 * What the inspection server and its page tell each other, version 1.
 *
 * Owns the shape of every message. Does not own bytes, addresses and who may ask (`server.ts`). Runs in a browser.
 *
 * I1. What happened travels as the lines of an event log, live and from a file alike: the page reads both with the
 *     same reader, so that the present and the past cannot disagree.
 * I2. Only what no log holds has messages of its own: the charts, the present rows, the tools.
 * I3. Everything is redacted before it becomes a message. Call arguments and results are in none.
 */
import type { StateValue } from 'xstate';
import type { ServerStatus } from '../lifecycle/status.js';
import type { ChartModel } from './chart-model.js';

/** The version that is spoken; a page of another one says so and does nothing else. */
export const INSPECTION_PROTOCOL = 1;

/**
 * Where the page asks. Every one wants the token as `Authorization: Bearer TOKEN`; the page has it from the fragment of
 * its address. What is refused is answered with a status of 400 or more and a `Refusal`.
 */
export const INSPECTION_PATHS = {
  /** `GET`: one `InspectionMessage` a line (application/x-ndjson) until either side ends it. */
  stream: '/api/stream',
  /** `POST` a `CommandRequest`: answers a `CommandAnswer`. Live only. */
  command: '/api/command',
  /** `GET ?server=NAME`: answers `InspectedTool[]`, of all servers where none is named. Live only. */
  tools: '/api/tools',
  /**
   * `GET`: the lines of the log as they are (application/x-ndjson), without the stream's JSON around them; then it ends.
   * A long file comes several times faster than by the stream.
   */
  log: '/api/log',
} as const;

/** The body of an answer that refuses: one sentence for a person. */
export interface Refusal {
  readonly error: string;
}

/** The first line of every stream. */
export interface Hello {
  readonly kind: 'hello';
  readonly protocol: number;
  readonly package: { readonly name: string; readonly version: string };
  /** `live`: what runs now, and it takes commands. `file`: a log that was opened. */
  readonly mode: 'live' | 'file';
  /** What it shows, for the title: the name of the file, or of the process. */
  readonly title: string;
  /** The charts of this package, by name. */
  readonly charts: Readonly<Record<string, { readonly hash: string; readonly model: ChartModel }>>;
  /** Time of the server, milliseconds since the epoch: countdowns are right where the clocks differ. */
  readonly at: number;
  /** Live only: something is said so often at least, milliseconds. A page that hears nothing for much longer says so. */
  readonly aliveEveryMs?: number;
}

/** Whole lines of an event log, each with its line feed. A header among them begins a new part. */
export interface LogLines {
  readonly kind: 'log';
  readonly lines: string;
  /** The file is read to its end. Never in a live stream. */
  readonly isLast?: boolean;
}

/** The present row of every server. Live only: at once, then after changes, a few times a second at most; the last one counts. */
export interface StatusRows {
  readonly kind: 'status';
  readonly at: number;
  readonly rows: readonly InspectedStatus[];
}

/** A row, the commands that its connection accepts now, and what no log tells of it. */
export interface InspectedStatus extends ServerStatus {
  readonly allowed: readonly string[];
  /** Where the chart of its review stands; null where its tools are not reviewed, or not yet. */
  readonly review: StateValue | null;
}

/** The page was too slow: what it missed is gone. A header and snapshots follow. */
export interface Resync {
  readonly kind: 'resync';
  /** Entries of the log that the page did not get. */
  readonly missed: number;
}

/** Nothing has happened, and the runtime is there. Live only. */
export interface Alive {
  readonly kind: 'alive';
}

/** The runtime ends; nothing follows. */
export interface Farewell {
  readonly kind: 'farewell';
  readonly why: string;
}

export type InspectionMessage = Hello | LogLines | StatusRows | Resync | Alive | Farewell;

/** What a person asks of a connection. */
export interface CommandRequest {
  readonly connection: string;
  /** Type of a command of the chart, such as `connection.retry`. */
  readonly command: string;
  /** Of `trust.granted`: `hash` of the `trustRequest` that was shown. Where the entry is another by now, it is refused (409). */
  readonly hash?: string;
}

export type CommandAnswer =
  | { readonly accepted: true }
  | {
      readonly accepted: false;
      readonly reason: string;
      readonly state: string;
      readonly event: string;
      readonly allowed: readonly string[];
    };

/** A tool as a model sees it. */
export interface InspectedTool {
  readonly name: string;
  readonly server: string;
  readonly tool: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: unknown;
  readonly stale: boolean;
}
