/**
 * The whole state of the page, as one value that is replaced as a whole, and its listeners.
 *
 * Owns the choices of the person and the facts about the source. Does not own the log (`worker/`).
 */
import type { Hello, InspectedHost, InspectedStatus } from '../../../src/inspector/page-protocol.js';
import type { CallGroup, CallOrder } from '../calls/call-views.js';
import { FIRST_COMPARISON, type Comparison } from '../compare/comparison.js';
import type { BookSummary, Charts } from '../log/desk-messages.js';
import type { Category } from '../log/labels.js';
import { MANAGER_LANE } from '../log/lane-names.js';
import type { Simulation } from '../simulate/messages.js';

export const VIEWS = [
  'fleet',
  'chart',
  'timeline',
  'events',
  'sequence',
  'calls',
  'compare',
  'simulate',
  'details',
] as const;
export type View = (typeof VIEWS)[number];

/** The source of the content. */
export type Source =
  | { readonly kind: 'none' }
  | { readonly kind: 'live'; readonly title: string }
  | { readonly kind: 'file'; readonly title: string }
  /** All hosts of a fleet; there is no log. */
  | { readonly kind: 'fleet'; readonly title: string };

/** The state of the connection to the source. */
export type Link =
  | { readonly kind: 'idle' }
  | { readonly kind: 'connecting' }
  /** `share` is undefined if the length of the log is unknown. */
  | { readonly kind: 'reading'; readonly share: number | undefined }
  | { readonly kind: 'open' }
  /** Nothing was received since that time, milliseconds since the epoch. */
  | { readonly kind: 'silent'; readonly since: number }
  | { readonly kind: 'lost'; readonly why: string; readonly mayReturn: boolean }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'mismatch'; readonly theirs: string; readonly ours: string };

export interface EventFilter {
  readonly text: string;
  readonly categories: readonly Category[];
  /** Only entries of the selected lane. */
  readonly isNarrow: boolean;
}

export const FLEET_ORDERS = ['added', 'name', 'trouble', 'tools', 'attempt'] as const;
export type FleetOrder = (typeof FLEET_ORDERS)[number];

/** Which connections are shown, in the fleet and in the timeline. */
export interface FleetChoice {
  readonly text: string;
  /** Empty for all. */
  readonly states: readonly string[];
  readonly order: FleetOrder;
}

export interface SequenceChoice {
  /** Only messages of the selected lane; otherwise of all that the fleet shows. */
  readonly isNarrow: boolean;
  /** Whether messages to and from the servers are among them. */
  readonly hasWire: boolean;
}

export interface CallChoice {
  readonly text: string;
  readonly group: CallGroup;
  readonly order: CallOrder;
  /** Only calls of the selected lane. */
  readonly isNarrow: boolean;
}

/** Why a link does not show what it names. */
export type LinkProblem =
  /** It belongs to a running troupe, whose key this tab does not have. */
  | { readonly kind: 'no-key' }
  | { readonly kind: 'ignored'; readonly parts: readonly string[] }
  /** The log has no such entry or moment. */
  | { readonly kind: 'no-place' };

export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

export interface Page {
  readonly source: Source;
  readonly link: Link;
  readonly hello: Hello | undefined;
  readonly charts: Charts;
  readonly book: BookSummary | undefined;
  readonly statuses: ReadonlyMap<string, InspectedStatus>;
  /** Of a fleet; undefined before they are known. */
  readonly hosts: readonly InspectedHost[] | undefined;
  /** The viewed position; null follows the end. */
  readonly cursor: number | null;
  /** The moment is being dragged: nothing is animated on the way. */
  readonly isScrubbing: boolean;
  /** The source's clock minus this computer's clock, milliseconds. */
  readonly clockAhead: number;
  readonly view: View;
  /** The lane that is selected. */
  readonly selected: string;
  /** Name of the viewed chart; null for the chart of the selected lane. */
  readonly chart: string | null;
  readonly filter: EventFilter;
  readonly fleet: FleetChoice;
  readonly sequence: SequenceChoice;
  readonly calls: CallChoice;
  /** Position of the open entry, which is of the selected lane; null for none. */
  readonly reading: number | null;
  /** Number of the call that is followed through the views; null for none. */
  readonly call: number | null;
  /** The part of the time that the timeline shows; null for all. */
  readonly window: TimeWindow | null;
  readonly linkProblem: LinkProblem | null;
  readonly comparison: Comparison;
  /** Null if nothing is simulated. */
  readonly simulation: Simulation | null;
  /** The page shows the names of the charts and the log instead of words. */
  readonly isRaw: boolean;
  readonly hasKeysHelp: boolean;
}

export const EMPTY: Page = {
  source: { kind: 'none' },
  link: { kind: 'idle' },
  hello: undefined,
  charts: {},
  book: undefined,
  statuses: new Map(),
  hosts: undefined,
  cursor: null,
  isScrubbing: false,
  clockAhead: 0,
  view: 'fleet',
  selected: MANAGER_LANE,
  chart: null,
  filter: { text: '', categories: [], isNarrow: false },
  fleet: { text: '', states: [], order: 'added' },
  sequence: { isNarrow: true, hasWire: true },
  calls: { text: '', group: 'all', order: 'slowest', isNarrow: false },
  reading: null,
  call: null,
  window: null,
  linkProblem: null,
  comparison: FIRST_COMPARISON,
  simulation: null,
  isRaw: false,
  hasKeysHelp: false,
};

export class PageState {
  #page = EMPTY;
  readonly #listeners = new Set<() => void>();

  get page(): Page {
    return this.#page;
  }

  change(change: Partial<Page>): void {
    const { selected } = this.#page;
    // Another connection is not shown beside an entry of this one.
    const isLeft = change.selected !== undefined && change.selected !== selected;
    this.#page = { ...this.#page, ...(isLeft && { reading: null }), ...change };
    for (const listener of this.#listeners) listener();
  }

  /** Resets everything except the view, the names and the charts. */
  begin(change: Partial<Page>): void {
    const { view, charts, isRaw } = this.#page;
    this.change({ ...EMPTY, view, charts, isRaw, ...change });
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** The shown position; -1 if there is none. */
export function positionOf({ cursor, book }: Page): number {
  return cursor ?? (book?.length ?? 0) - 1;
}

export function isPast({ cursor }: Page): boolean {
  return cursor !== null;
}

/** Whether commands can be sent: a runtime is there, and the present is shown. */
export function isCommandable({ source, hello, link, cursor }: Page): boolean {
  return source.kind === 'live' && hello?.isReadOnly !== true && link.kind === 'open' && cursor === null;
}

/** At its end the page follows new entries. */
export function look(state: PageState, position: number, length: number): void {
  state.change({ cursor: position >= length - 1 ? null : Math.max(0, position) });
}
