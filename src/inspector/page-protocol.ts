/**
 * The messages between the inspection server and its page, version 2.
 *
 * Owns the shape of every message. Does not own bytes, addresses and access (`inspection-server.ts`). Runs in a
 * browser.
 *
 * I1. Events travel as the lines of an event log, live and from a file alike: the page reads both with the same reader,
 *     so that the present and the past cannot disagree.
 * I2. Only data that no log holds has messages of its own: the charts, the present rows, the tools.
 * I3. Everything is redacted before it becomes a message. Call arguments and results are in none.
 */
import type { StateValue } from 'xstate';
import type { ServerStatus } from '../lifecycle/status.js';
import type { ChartModel } from '../charts/chart-model.js';

/** The protocol version. A page of another version reports that and stops. */
export const INSPECTION_PROTOCOL = 2;

/**
 * The addresses for requests of the page. Each needs the token as `Authorization: Bearer TOKEN`; the page takes it from
 * the fragment of its own address. A refused request is answered with a status of 400 or more and a `Refusal`.
 */
export const INSPECTION_PATHS = {
  /** `GET`: one `InspectionMessage` a line (application/x-ndjson) until either side ends it. */
  stream: '/api/stream',
  /** `POST` a `CommandRequest`: answers a `CommandAnswer`. Live only. */
  command: '/api/command',
  /** `GET ?server=NAME`: answers `InspectedTool[]`, of all servers if none is named. Live only. */
  tools: '/api/tools',
  /**
   * `GET ?follow`: the lines of the log as they are (application/x-ndjson), without the stream's JSON around them. For a
   * long file, this is several times faster than the stream. Several recordings are in one order of time, with marks
   * (`merge-lines.ts`). It ends with the file; with `follow`, it goes on as the file grows, after the line `SO_FAR`.
   */
  log: '/api/log',
} as const;

/** The body of a refusal: one sentence for a person. */
export interface Refusal {
  readonly error: string;
}

/** The first line of every stream. */
export interface Hello {
  readonly kind: 'hello';
  readonly protocol: number;
  readonly package: { readonly name: string; readonly version: string };
  /** `live`: a running troupe, which takes commands. `file`: a log that was opened. */
  readonly mode: 'live' | 'file';
  /** For the title: the name of the file, or of the process. */
  readonly title: string;
  /** The charts of this package, by name. */
  readonly charts: Readonly<Record<string, { readonly hash: string; readonly model: ChartModel }>>;
  /** Time of the server, milliseconds since the epoch. It keeps countdowns right if the clocks differ. */
  readonly at: number;
  /**
   * Live only: the maximum time between two messages, milliseconds. A page that receives nothing for much longer shows
   * that.
   */
  readonly aliveEveryMs?: number;
  /** Live only: the page is shown by another process, which takes no commands and lists no tools. */
  readonly isReadOnly?: boolean;
}

/** Whole lines of an event log, each with its line feed. A header among them begins a new part. */
export interface LogLines {
  readonly kind: 'log';
  readonly lines: string;
  /** The file was read to its end. Never in a live stream. */
  readonly isLast?: boolean;
}

/**
 * The present row of every server. Live only: at once, then after changes, at most a few times a second. The last one
 * counts.
 */
export interface StatusRows {
  readonly kind: 'status';
  readonly at: number;
  readonly rows: readonly InspectedStatus[];
}

/** A row, the commands that its connection accepts now, and data that no log contains. */
export interface InspectedStatus extends ServerStatus {
  readonly allowed: readonly string[];
  /** The state of its review; null if its tools are not reviewed, or not yet. */
  readonly review: StateValue | null;
}

/** The page was too slow and missed entries. A header and snapshots follow. */
export interface Resync {
  readonly kind: 'resync';
  /** Number of entries that the page missed. */
  readonly missed: number;
}

/** A sign of life of the runtime without an event. Live only. */
export interface Alive {
  readonly kind: 'alive';
}

/** The runtime ends; nothing follows. */
export interface SessionEnd {
  readonly kind: 'end';
  readonly why: string;
}

export type InspectionMessage = Hello | LogLines | StatusRows | Resync | Alive | SessionEnd;

/** A command for a connection, from a person. */
export interface CommandRequest {
  readonly server: string;
  /** Type of a command of the chart, such as `connection.retry`. */
  readonly command: string;
  /**
   * For `trust.granted`: `hash` of the `trustRequest` that was shown. If the entry has changed since, the command is
   * refused (409).
   */
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
