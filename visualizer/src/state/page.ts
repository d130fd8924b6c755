/**
 * Everything the page shows at one time, as one value that is replaced whole, and who hears of it.
 *
 * Owns what the person has chosen and what is known of the source. Does not own the log (`worker/`).
 */
import type { Hello, InspectedStatus } from '../../../src/inspection/protocol.js';
import type { BookSummary, Charts } from '../log/desk-messages.js';
import type { Category } from '../log/labels.js';

export const VIEWS = ['fleet', 'chart', 'timeline', 'events', 'sequence', 'details'] as const;
export type View = (typeof VIEWS)[number];

/** Where what is shown comes from. */
export type Source =
  | { readonly kind: 'none' }
  | { readonly kind: 'live'; readonly title: string }
  | { readonly kind: 'file'; readonly title: string };

/** How it stands with it. */
export type Link =
  | { readonly kind: 'idle' }
  | { readonly kind: 'connecting' }
  /** `share` is undefined where nobody knows how long the log is. */
  | { readonly kind: 'reading'; readonly share: number | undefined }
  | { readonly kind: 'open' }
  /** Nothing was heard since then, milliseconds since the epoch. */
  | { readonly kind: 'silent'; readonly since: number }
  | { readonly kind: 'lost'; readonly why: string; readonly mayReturn: boolean }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'mismatch'; readonly theirs: string; readonly ours: string };

export interface EventFilter {
  readonly text: string;
  readonly categories: readonly Category[];
  /** Only those of the selected connection. */
  readonly isNarrow: boolean;
}

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
  /** Position that is looked at; null follows the end. */
  readonly cursor: number | null;
  /** The moment is being dragged: nothing is animated on the way. */
  readonly isScrubbing: boolean;
  /** What is to be added to this computer's time to have that of the source. */
  readonly clockAhead: number;
  readonly view: View;
  /** Name of the connection; empty for the manager. */
  readonly selected: string;
  /** Name of the chart that is looked at; null for that of what is selected. */
  readonly chart: string | null;
  readonly filter: EventFilter;
  /** Position of the entry that is read; null for none. */
  readonly reading: number | null;
  /** Part of the time that the timeline shows; null for all. */
  readonly window: TimeWindow | null;
}

const EMPTY: Page = {
  source: { kind: 'none' },
  link: { kind: 'idle' },
  hello: undefined,
  charts: {},
  book: undefined,
  statuses: new Map(),
  cursor: null,
  isScrubbing: false,
  clockAhead: 0,
  view: 'fleet',
  selected: '',
  chart: null,
  filter: { text: '', categories: [], isNarrow: false },
  reading: null,
  window: null,
};

export class PageState {
  #page = EMPTY;
  readonly #listeners = new Set<() => void>();

  get page(): Page {
    return this.#page;
  }

  change(change: Partial<Page>): void {
    this.#page = { ...this.#page, ...change };
    for (const listener of this.#listeners) listener();
  }

  /** Nothing of what was shown is left, but the view and the charts. */
  begin(change: Partial<Page>): void {
    const { view, charts } = this.#page;
    this.change({ ...EMPTY, view, charts, ...change });
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** Position that is shown; -1 where there is nothing. */
export function positionOf({ cursor, book }: Page): number {
  return cursor ?? (book?.length ?? 0) - 1;
}

export function isPast({ cursor }: Page): boolean {
  return cursor !== null;
}

/** Whether commands can be sent: a runtime is there, and what is shown is now. */
export function isCommandable({ source, link, cursor }: Page): boolean {
  return source.kind === 'live' && link.kind === 'open' && cursor === null;
}

/** At its end the page follows what comes. */
export function look(state: PageState, position: number, length: number): void {
  state.change({ cursor: position >= length - 1 ? null : Math.max(0, position) });
}
