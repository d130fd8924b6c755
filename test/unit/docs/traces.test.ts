/** The traces that the architecture page lists follow the imports and stay within their limits. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { graphOf, readFiles } from '../../../tools/import-graph.mjs';
import { problemsOf, tracesIn } from '../../../tools/trace-files.mjs';

const traces = tracesIn(readFileSync('docs/explanation/architecture.md', 'utf8'));
const graph = graphOf(readFiles(['src', 'machines'], '.ts'));

describe('the listed traces', () => {
  it('are an exit, a call and an edited file, each with its limit.', () => {
    expect(traces.map(({ title, limit }) => [title, limit])).toEqual([
      ['A process exits', 12],
      ['A call', 10],
      ['An edited file reaches its new session', 22],
    ]);
  });

  it('follow the imports within their limits.', () => {
    expect(traces.flatMap((trace) => problemsOf(graph, trace))).toEqual([]);
  });
});
