/** Moves of the whole page through time. Each starts at the result of the previous one, however fast they come. */
import type { Question, Questions } from '../log/desk-messages.js';
import { isPast, look, positionOf, type PageState } from './page.js';

export interface MoveParts {
  readonly state: PageState;
  readonly log: {
    ask<Q extends Question>(question: Q, ask: Questions[Q]['ask']): Promise<Questions[Q]['answer']>;
  };
}

/** Moves by this many entries. */
export function stepBy(state: PageState, entries: number): void {
  look(state, positionOf(state.page) + entries, state.page.book?.length ?? 0);
}

/** Shows the entry beside the others. */
export function openEntry(state: PageState, position: number): void {
  state.change({ view: 'events', reading: position });
}

/** The remaining move while the log is asked, for each page. */
const waiting = new WeakMap<PageState, { ms: number; least: number }>();

/** Moves by this many milliseconds, and at least by one entry: a longer quiet period could not be passed otherwise. */
export async function goBy({ state, log }: MoveParts, ms: number): Promise<void> {
  const more = waiting.get(state);
  if (more !== undefined) {
    more.ms += ms;
    more.least += Math.sign(ms);
    return;
  }
  const move = { ms, least: Math.sign(ms) };
  waiting.set(state, move);
  try {
    while (move.ms !== 0) {
      const { ms: by, least } = move;
      Object.assign(move, { ms: 0, least: 0 });
      await moveBy({ state, log }, by, least);
    }
  } finally {
    waiting.delete(state);
  }
}

async function moveBy({ state, log }: MoveParts, ms: number, least: number): Promise<void> {
  // At the end, the page already follows new entries.
  if (ms > 0 && !isPast(state.page)) return;
  const from = positionOf(state.page);
  const [line] = await log.ask('lines', { positions: [from] });
  if (line === undefined) return;
  const found = await log.ask('positionAt', { time: line.at + ms });
  const position = ms < 0 ? Math.min(found, from + least) : Math.max(found, from + least);
  look(state, position, state.page.book?.length ?? 0);
}
