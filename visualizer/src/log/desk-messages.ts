/** The messages between the page and the worker that reads the log. */
import type { StateValue } from 'xstate';
import type { FoldedState } from '../../../src/event-log/replay/folded-actor.js';
import type { LogReport } from '../../../src/event-log/format/report.js';
import type { LogProblem } from '../../../src/event-log/format/read-log.js';
import type { ChartModel } from '../../../src/charts/chart-model.js';
import type { Hello, InspectedStatus } from '../../../src/inspector/page-protocol.js';
import type { StatusDetails } from '../../../src/lifecycle/status-details.js';
import type { Arrow } from './arrows.js';
import type { LaneView, Window } from './bars.js';
import type { EntryQuery } from './find-entries.js';
import type { Category } from './labels.js';
import type { AuxiliaryRow, Row } from './rows.js';

/** Orders of the page. */
export type Order =
  | { readonly order: 'follow'; readonly address: string; readonly token: string }
  | { readonly order: 'open'; readonly files: readonly File[] };

/** Questions of the page, each with its answer. */
export interface Questions {
  moment: { ask: { readonly position: number }; answer: MomentView };
  actor: { ask: { readonly name: string; readonly position: number }; answer: ActorView | undefined };
  stretches: { ask: { readonly names: readonly string[]; readonly window: Window }; answer: StretchView };
  overview: { ask: { readonly columns: number }; answer: Overview };
  find: { ask: EntryQuery; answer: Int32Array<ArrayBuffer> | undefined };
  lines: { ask: { readonly positions: readonly number[] }; answer: readonly EntryLine[] };
  entry: { ask: { readonly position: number }; answer: EntryView | undefined };
  arrows: {
    ask: ArrowQuery;
    answer: readonly Arrow[];
  };
  positionAt: { ask: { readonly time: number }; answer: number };
  /** The page and the log as one HTML file. */
  share: { ask: { readonly template: string }; answer: Blob };
}

export type Question = keyof Questions;

/** The last messages up to a moment. */
export interface ArrowQuery {
  /** The lane; undefined for all. */
  readonly name: string | undefined;
  readonly upTo: number;
  /** Approximate maximum number. */
  readonly most: number;
  /** Whether messages to and from the servers are among them. */
  readonly hasWire: boolean;
}

export interface MomentView {
  readonly position: number;
  readonly at: number;
  readonly manager: string;
  readonly rows: readonly Row[];
  /** The auxiliary machines. */
  readonly auxiliaries: readonly AuxiliaryRow[];
}

export interface ActorView {
  /** Of its lane. */
  readonly name: string;
  readonly address: string;
  readonly position: number;
  readonly status: string;
  readonly state: StateValue;
  readonly context: Readonly<Record<string, unknown>>;
  /** Status details of its sessions. */
  readonly details: StatusDetails | undefined;
  /** The last change of its state; null if there was none. */
  readonly change: {
    readonly position: number;
    readonly at: number;
    readonly from: StateValue | null;
    /** Types of the events that the actor received with the change. */
    readonly events: readonly string[];
  } | null;
  /** Paths of states to how often they were entered. */
  readonly visits: ReadonlyMap<string, number>;
}

export interface StretchView {
  readonly stretches: readonly LaneView[];
  /** Every state value, by number. */
  readonly values: readonly StateValue[];
}

/** The number of entries over the length of the log, for a strip. */
export interface Overview {
  readonly entries: readonly number[];
  /** Failures and rejections. */
  readonly troubles: readonly number[];
}

export interface EntryLine {
  readonly position: number;
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  readonly category: Category;
  readonly type: string;
  /** Undefined if it is not about a machine. */
  readonly lane: string | undefined;
  /** A short description of the outcome. */
  readonly words: string;
}

export interface EntryView extends EntryLine {
  /** The entry as recorded. */
  readonly json: unknown;
  /** The actor's state before; undefined for a note. */
  readonly before: FoldedState | undefined;
  readonly after: FoldedState | undefined;
}

export interface BookSummary {
  readonly length: number;
  /** Milliseconds since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** Of every lane except the manager's. */
  readonly names: readonly string[];
  readonly missed: number;
  /** Number of older entries that are no longer kept. Positions count from the first kept entry. */
  readonly leftOut: number;
  readonly problem: Pick<LogProblem, 'code' | 'message'> | null;
  readonly writtenBy: string | null;
  /** Whether the log was written with other charts than this page has, so that its moments are approximate. */
  readonly hasOtherCharts: boolean;
  readonly isWhole: boolean;
  /** Whether more may follow, because the file is followed. */
  readonly isGrowing: boolean;
  /** The first line of a report; null for anything else. */
  readonly report: LogReport | null;
  /** The recordings by computer and process; one, unless several are shown together. */
  readonly runs: readonly string[];
}

export type Charts = Readonly<Record<string, { readonly hash: string; readonly model: ChartModel }>>;

/** Messages of the worker that answer no question. */
export type News =
  | { readonly news: 'charts'; readonly charts: Charts }
  | { readonly news: 'hello'; readonly hello: Hello }
  | { readonly news: 'book'; readonly book: BookSummary }
  | { readonly news: 'status'; readonly at: number; readonly rows: readonly InspectedStatus[] }
  /** `share` is undefined if the length of the log is unknown. */
  | { readonly news: 'progress'; readonly share: number | undefined }
  /** `mayReturn`: it is reconnecting. */
  | { readonly news: 'lost'; readonly why: string; readonly mayReturn: boolean }
  /** Nothing was received since that time, milliseconds since the epoch. It may continue. */
  | { readonly news: 'silent'; readonly since: number }
  | { readonly news: 'heard' }
  | { readonly news: 'refused'; readonly why: string; readonly status: number };

export interface Asked<Q extends Question = Question> {
  readonly id: number;
  readonly question: Q;
  readonly ask: Questions[Q]['ask'];
}

export type Answered = { readonly id: number } & (
  { readonly answer: unknown } | { readonly trouble: string }
);
