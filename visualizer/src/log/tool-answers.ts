/** The answers of the tools of the page: they compare, simulate, and write tests. None of them changes the log. */
import { Comparer } from '../compare/comparer.js';
import { testOfEntry } from '../fixture/test-of-entry.js';
import { simulateBare } from '../simulate/bare-chart.js';
import { simulate } from '../simulate/simulation.js';
import type { Charts, Questions } from './desk-messages.js';
import type { LogBook } from './log-book.js';

type Tool = 'compareMoments' | 'runs' | 'compareRuns' | 'simulate' | 'test';
type Answers = {
  readonly [Q in Tool]: (
    ask: Questions[Q]['ask'],
  ) => Questions[Q]['answer'] | Promise<Questions[Q]['answer']>;
};

export interface Desk {
  readonly book: LogBook;
  readonly charts: Charts;
  /** Lets other work run. */
  readonly turn: () => Promise<void>;
}

/** `desk` gives the present one. */
export function toolAnswers(desk: () => Desk): Answers {
  const comparer = new Comparer(() => desk().turn());
  return {
    compareMoments: ({ from, to }) => comparer.moments(desk().book, from, to),
    runs: ({ other }) => (other === null ? comparer.runsOf(desk().book) : comparer.read(other)),
    compareRuns: ({ a, b }) => comparer.runs(desk().book, a, b),
    simulate: (ask) => (hasOwnChart(desk()) ? simulate(ask) : simulateBare(ask)),
    test: ({ position }) => testOfEntry(desk().book, position),
  };
}

/** Whether the connections of the log have the chart of this page. */
function hasOwnChart({ book, charts }: Desk): boolean {
  return book.header?.machines.connection === charts['connection']?.hash;
}
