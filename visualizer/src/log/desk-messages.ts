/** The messages between the page and the worker that reads the log. */
import type { StateValue } from 'xstate';
import type { FoldedState } from '../../../src/event-log/replay/folded-actor.js';
import type { LogReport } from '../../../src/event-log/format/report.js';
import type { LogProblem } from '../../../src/event-log/format/read-log.js';
import type { ChartModel } from '../../../src/charts/chart-model.js';
import type { Hello, InspectedHost, InspectedStatus } from '../../../src/inspector/page-protocol.js';
import type { EntryTest } from '../../../src/fixtures/entry-test.js';
import type { StatusDetails } from '../../../src/lifecycle/status-details.js';
import type { CallList, CallQuery, CallView } from '../calls/call-views.js';
import type { Place } from '../link/place.js';
import type { MomentsView, RunChoice, RunComparison, RunsView } from '../compare/messages.js';
import type { SimulationAsk, SimulationView } from '../simulate/messages.js';
import type { Arrow } from './arrows.js';
import type { LaneView, Window } from './bars.js';
import type { EntryQuery, Found } from './find-entries.js';
import type { Category } from './labels.js';
import type { AuxiliaryRow, Row } from './rows.js';
import type { Stay, Trouble } from './story.js';

/** Orders of the page. */
export type Order =
  | { readonly order: 'follow'; readonly address: string; readonly token: string }
  | { readonly order: 'open'; readonly files: readonly File[] };

/** Questions of the page, each with its answer. */
export interface Questions {
  moment: { ask: { readonly position: number }; answer: MomentView };
  actor: { ask: { readonly name: string; readonly position: number }; answer: ActorView | undefined };
  why: { ask: { readonly name: string; readonly position: number }; answer: WhyView | undefined };
  stretches: { ask: { readonly names: readonly string[]; readonly window: Window }; answer: StretchView };
  overview: { ask: { readonly columns: number }; answer: Overview };
  /** Answers before it is done; then the same question continues the search. */
  find: { ask: EntryQuery; answer: Found | undefined };
  lines: { ask: { readonly positions: readonly number[] }; answer: readonly EntryLine[] };
  entry: { ask: { readonly position: number }; answer: EntryView | undefined };
  arrows: { ask: ArrowQuery; answer: ArrowView };
  positionAt: { ask: { readonly time: number }; answer: number };
  /** The answer is -1 if the log has no such place. */
  positionOf: { ask: Place; answer: number };
  calls: { ask: CallQuery; answer: CallList };
  call: { ask: { readonly number: number }; answer: CallView | undefined };
  /** Number of the call to which an entry belongs. */
  callAt: { ask: { readonly position: number }; answer: number | undefined };
  /** The page and the log as one HTML file. */
  share: { ask: { readonly template: string }; answer: Blob };
  compareMoments: { ask: { readonly from: number; readonly to: number }; answer: MomentsView };
  /** The runs in this log; or in another one, which is kept for comparisons. */
  runs: { ask: { readonly other: Blob | null }; answer: RunsView };
  compareRuns: { ask: { readonly a: RunChoice; readonly b: RunChoice }; answer: RunComparison };
  simulate: { ask: SimulationAsk; answer: SimulationView };
  /** The test that leads to an entry. */
  test: { ask: { readonly position: number }; answer: EntryTest };
}

export type Question = keyof Questions;

/** The last messages up to a moment. */
export interface ArrowQuery {
  /** The lanes; undefined for all. */
  readonly names: readonly string[] | undefined;
  /** Maximum number of lanes, apart from the manager's: those of the latest messages. */
  readonly mostLanes: number;
  readonly upTo: number;
  /** Approximate maximum number. */
  readonly most: number;
  /** Whether messages to and from the servers are among them. */
  readonly hasWire: boolean;
}

export interface ArrowView {
  readonly arrows: readonly Arrow[];
  /** Number of lanes with messages that are left out, among the entries that were looked at. */
  readonly leftOut: number;
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
  /** Since when it has been in its public state, milliseconds since the epoch. */
  readonly since: number | undefined;
  /** The last change of its state; null if there was none. */
  readonly change: {
    readonly position: number;
    readonly at: number;
    /** False if only a snapshot shows it, so that it happened earlier, at an unknown time. */
    readonly isExact: boolean;
    readonly from: StateValue | null;
    /** Types of the events that the actor received with the change. */
    readonly events: readonly string[];
  } | null;
  /** Paths of states to how often they were entered. */
  readonly visits: ReadonlyMap<string, number>;
}

/** What led a connection to its state. */
export interface WhyView {
  /** Of its lane. */
  readonly name: string;
  /** Its last public states, the newest first. */
  readonly stays: readonly Stay[];
  readonly restarts: number;
  /** Its last failures, the newest first. */
  readonly troubles: readonly Trouble[];
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
  /** Number of entries before the first one, which the log does not have. */
  readonly before: number;
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
  | { readonly news: 'hosts'; readonly hosts: readonly InspectedHost[] }
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
