/** Moves of the whole page through time. */
import { look, positionOf } from './page.js';
import type { Theater } from './theater.js';

type Parts = Pick<Theater, 'state' | 'log'>;

/** By so many milliseconds, but by one entry at least: in a quiet hour nothing else would ever be come to. */
export async function goBy({ state, log }: Parts, ms: number): Promise<void> {
  const from = positionOf(state.page);
  const [line] = await log.ask('lines', { positions: [from] });
  if (line === undefined) return;
  const found = await log.ask('positionAt', { time: line.at + ms });
  const position = ms < 0 ? Math.min(found, from - 1) : Math.max(found, from + 1);
  look(state, position, state.page.book?.length ?? 0);
}
