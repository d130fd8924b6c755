/** What the page and the worker that reads the log tell each other. */
import type { StateValue } from 'xstate';
import type { Standing } from '../../../src/event-log/folded-actor.js';
import type { ChartModel } from '../../../src/inspection/chart-model.js';
import type { Hello, InspectedStatus } from '../../../src/inspection/protocol.js';
import type { Arrow } from './arrows.js';
import type { Stretch, Window } from './bars.js';
import type { EntryQuery } from './find-entries.js';
import type { Category } from './labels.js';
import type { Row } from './rows.js';

/** What the page wants to be done. */
export type Order =
  | { readonly order: 'follow'; readonly address: string; readonly token: string }
  | { readonly order: 'open'; readonly file: Blob };

/** What the page asks, each with its answer. */
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

/** The last ones up to a moment. */
export interface ArrowQuery {
  /** Of a connection, empty for the manager; undefined for all. */
  readonly name: string | undefined;
  readonly upTo: number;
  /** About so many at most. */
  readonly most: number;
  /** Whether messages to and from the servers are among them. */
  readonly hasWire: boolean;
}

export interface MomentView {
  readonly position: number;
  readonly at: number;
  readonly manager: string;
  readonly rows: readonly Row[];
}

export interface ActorView {
  /** Empty for the manager. */
  readonly name: string;
  readonly address: string;
  readonly position: number;
  readonly status: string;
  readonly state: StateValue;
  readonly context: Readonly<Record<string, unknown>>;
  /** The last change of its state; null where there was none before. */
  readonly change: {
    readonly position: number;
    readonly at: number;
    readonly from: StateValue | null;
    /** Types of the events that it was told with it. */
    readonly events: readonly string[];
  } | null;
  /** Paths of states to how often they were entered. */
  readonly visits: ReadonlyMap<string, number>;
}

export interface StretchView {
  readonly stretches: readonly Stretch[];
  /** Every state value, by number. */
  readonly values: readonly StateValue[];
}

/** How much happened, for a strip as wide as the log is long. */
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
  /** Name of the connection; empty for the manager, undefined for neither. */
  readonly lane: string | undefined;
  /** A few words of what came of it. */
  readonly words: string;
}

export interface EntryView extends EntryLine {
  /** As it was written. */
  readonly json: unknown;
  /** Where the actor stood; undefined for a note. */
  readonly before: Standing | undefined;
  readonly after: Standing | undefined;
}

export interface BookSummary {
  readonly length: number;
  /** Milliseconds since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
  readonly names: readonly string[];
  readonly missed: number;
  /** Older entries that are not kept any more. Positions count from the first that is. */
  readonly leftOut: number;
  readonly problem: { readonly message: string; readonly isNewer: boolean } | null;
  readonly writtenBy: string | null;
  /** The log was made by charts that are not those of this page: its moments are guesses. */
  readonly hasOtherCharts: boolean;
  readonly isWhole: boolean;
}

export type Charts = Readonly<Record<string, { readonly hash: string; readonly model: ChartModel }>>;

/** What the worker tells unasked. */
export type News =
  | { readonly news: 'charts'; readonly charts: Charts }
  | { readonly news: 'hello'; readonly hello: Hello }
  | { readonly news: 'book'; readonly book: BookSummary }
  | { readonly news: 'status'; readonly at: number; readonly rows: readonly InspectedStatus[] }
  /** `share` is undefined where nobody knows how long the log is. */
  | { readonly news: 'progress'; readonly share: number | undefined }
  /** `mayReturn`: it is being tried again. */
  | { readonly news: 'lost'; readonly why: string; readonly mayReturn: boolean }
  /** Nothing is heard since then, milliseconds since the epoch. It may go on. */
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
