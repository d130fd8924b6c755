/**
 * Keeps the address of the page and what it shows the same: a link opens the same sight, and the buttons of the browser go
 * back and forward.
 *
 * A1. The key of a troupe is never written into the address. While the browser keeps it there, because it stores nothing,
 *     the address is left alone.
 * A2. A sight is applied once the log is there, and only then written.
 * A3. Another view, connection, entry or call is a step of the history; everything else replaces the present one.
 */
import type { Question, Questions } from '../log/desk-messages.js';
import { isPast, type Page, type PageState } from '../state/page.js';
import { keyIn } from '../state/runtime.js';
import type { Place } from './place.js';
import { FIRST_SIGHT, pick, readFragment, toFragment, type Sight } from './sight.js';

export interface AddressParts {
  readonly state: PageState;
  readonly log: {
    ask<Q extends Question>(question: Q, ask: Questions[Q]['ask']): Promise<Questions[Q]['answer']>;
  };
  readonly window: Pick<Window, 'location' | 'history' | 'addEventListener'>;
  /** Whether the troupe that this page belongs to can be reached. */
  readonly hasAccess: boolean;
}

/** Time without a change before the address is written, milliseconds. Browsers limit how often it may be. */
const REST_MS = 200;
const STEPS = ['view', 'selected', 'reading', 'call'] as const;

export class AddressBar {
  readonly #parts: AddressParts;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The sight that waits for the log. */
  #pending: Sight | undefined;
  #isApplying = false;
  /** The page as it was when the address was written. */
  #written: Page | undefined;
  #seen: readonly unknown[] = [];
  /** Grows with each reading and writing, so that only the latest one counts. */
  #round = 0;

  constructor(parts: AddressParts) {
    this.#parts = parts;
  }

  start(): void {
    const { state, window } = this.#parts;
    if (window.location.hash !== '') this.#open();
    window.addEventListener('hashchange', () => {
      // For a browser, an address that differs only in its key, as after a restart, is the same page.
      if (this.#holdsKey) window.location.reload();
      else this.#open();
    });
    state.listen(() => this.#changed());
  }

  get #holdsKey(): boolean {
    const { protocol, hash } = this.#parts.window.location;
    return protocol === 'http:' && keyIn(hash) !== '';
  }

  #open(): void {
    const { state, window, hasAccess } = this.#parts;
    if (this.#holdsKey) return;
    const { sight, ignored } = readFragment(window.location.hash.slice(1));
    clearTimeout(this.#timer);
    // What is being written is no longer wanted.
    this.#round += 1;
    this.#pending = sight;
    const isKeyMissing = !hasAccess && state.page.book === undefined && window.location.protocol === 'http:';
    if (isKeyMissing) state.change({ linkProblem: { kind: 'no-key' } });
    else if (ignored.length > 0) state.change({ linkProblem: { kind: 'ignored', parts: ignored } });
    this.#changed();
  }

  #changed(): void {
    const { page } = this.#parts.state;
    if (this.#isApplying || page.book === undefined || page.book.length === 0 || page.link.kind === 'reading')
      return;
    if (this.#pending !== undefined) {
      const sight = this.#pending;
      this.#pending = undefined;
      void this.#apply(sight);
      return;
    }
    const chosen = [...Object.values(pick(page)), page.cursor, page.reading];
    if (chosen.every((value, index) => value === this.#seen[index])) return;
    this.#seen = chosen;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#write(), REST_MS);
  }

  async #apply({ moment, entry, ...choices }: Sight): Promise<void> {
    const { state } = this.#parts;
    this.#round += 1;
    this.#isApplying = true;
    state.change(choices);
    const [cursor, reading] = await Promise.all([this.#positionOf(moment), this.#positionOf(entry)]);
    this.#isApplying = false;
    const { length = 0 } = state.page.book ?? {};
    const isMissing = (moment !== null && cursor === -1) || (entry !== null && reading === -1);
    state.change({
      cursor: cursor === -1 || cursor === length - 1 ? null : cursor,
      reading: reading === -1 ? null : reading,
      ...(isMissing && { linkProblem: { kind: 'no-place' } }),
    });
    this.#written = state.page;
    this.#changed();
  }

  async #write(): Promise<void> {
    const { state, window } = this.#parts;
    const { page } = state;
    if (this.#holdsKey) return;
    const mine = (this.#round += 1);
    const [moment, entry] = await Promise.all([
      isPast(page) ? this.#placeOf(page.cursor) : null,
      this.#placeOf(page.reading),
    ]);
    if (mine !== this.#round) return;
    const fragment = toFragment({ ...FIRST_SIGHT, ...pick(page), moment, entry });
    const before = this.#written;
    this.#written = page;
    if (fragment === window.location.hash.slice(1)) return;
    const isStep = before !== undefined && STEPS.some((name) => page[name] !== before[name]);
    const { pathname, search } = window.location;
    const address = fragment === '' ? `${pathname}${search}` : `#${fragment}`;
    try {
      if (isStep) window.history.pushState(null, '', address);
      else window.history.replaceState(null, '', address);
    } catch {
      // Some browsers allow it only so often, or not at all for a file. The page itself does not need it.
    }
  }

  /** -1 if there is none. */
  async #positionOf(place: Place | null): Promise<number> {
    return place === null ? -1 : this.#parts.log.ask('positionOf', place).catch(() => -1);
  }

  async #placeOf(position: number | null): Promise<Place | null> {
    if (position === null) return null;
    try {
      const [line] = await this.#parts.log.ask('lines', { positions: [position] });
      return line === undefined ? null : { seq: line.seq, at: line.at };
    } catch {
      return null;
    }
  }
}
