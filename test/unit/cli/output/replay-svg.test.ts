/** The timeline as a picture: well-formed and complete, and no content of a log is interpreted as markup. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replay } from '../../../../src/cli/recordings/replay-command.js';
import { DEFAULT_FLAGS } from '../../../../src/cli/arguments/flags.js';
import { drawTimeline } from '../../../../src/cli/output/replay-svg.js';
import type { ReplayReport } from '../../../../src/event-log/replay/replay-log.js';
import { makeTerminal } from '../../../support/fake-terminal.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const incident = readFileSync(
  new URL('../../../property/replay/corpus/flaps-forever.jsonl', import.meta.url),
);

/** Names of the elements that are open at the end, or the first closing tag without an opening one. */
function unbalanced(svg: string): readonly string[] {
  const open: string[] = [];
  for (const [, slash, name = '', selfClosed] of svg.matchAll(/<(\/?)([a-z]+)[^<>]*?(\/?)>/g)) {
    if (selfClosed === '/') continue;
    if (slash === '') open.push(name);
    else if (open.pop() !== name) return [`</${name}>`];
  }
  return open;
}

const emptyReport: ReplayReport = {
  header: undefined,
  entries: 0,
  parts: 1,
  at: undefined,
  problem: undefined,
  hasOtherCharts: false,
  isEnded: true,
  whyNoRerun: undefined,
  divergences: [],
  divergenceCount: 0,
  connections: new Map(),
};

describe('the picture of a timeline', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-svg-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('has a lane for each connection, a bar for each state and a mark for each failure.', async () => {
    const [log, svg] = [join(folder, 'log.jsonl'), join(folder, 'timeline.svg')];
    writeFileSync(log, incident);
    writeFileSync(svg, 'an older one');
    const { terminal } = makeTerminal();
    expect(await replay({ ...DEFAULT_FLAGS, svg }, terminal, [log])).toBe(0);
    const drawn = readFileSync(svg, 'utf8');
    expect(unbalanced(drawn)).toEqual([]);
    expect(drawn).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    expect(drawn).toContain('>files<title>');
    expect(drawn).toContain('prefers-color-scheme:dark');
    expect(drawn.match(/<rect class="reconnecting"[^/]*<title>reconnecting\./g)?.length).toBeGreaterThan(1);
    expect(drawn).toContain('crash-loop: ');
    expect(drawn.match(/class="mark failure"/g)?.length).toBe(4);
  });

  it('shows names and messages as text, whatever they contain.', () => {
    const name = '</svg><script>alert("x")</script>&\u0000\ud800';
    const summary = {
      state: 'failed',
      generation: 1,
      attempts: 1,
      states: {},
      failureCodes: {},
      failures: [{ code: 'internal' as const, message: '<b>&"', phase: 'launch' as const, at: 2 }],
      rejected: [{ entry: 1, at: 1, event: '"><x', state: 'ready' }],
    };
    const svg = drawTimeline({ ...emptyReport, entries: 1, at: 2, connections: new Map([[name, summary]]) }, [
      { entry: 1, at: 1, server: name, from: null, to: '"><evil' },
    ]);
    expect(unbalanced(svg)).toEqual([]);
    for (const part of ['<script', '<b>', '<evil', '<x', '\u0000', '\ud800']) expect(svg).not.toContain(part);
    expect(svg).toContain('&lt;/svg&gt;');
  });

  it('of a log without a connection is a picture, too.', () => {
    expect(unbalanced(drawTimeline(emptyReport, []))).toEqual([]);
  });
});
