import fc from 'fast-check';
import picocolors from 'picocolors';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import type { CatalogTool } from '../../../../src/catalog/registry.js';
import {
  AT_START,
  move,
  open,
  type ConsoleState,
  type Page,
} from '../../../../src/cli/console/console-state.js';
import {
  heightOf,
  linesOf,
  renderConsole,
  type ConsoleFacts,
} from '../../../../src/cli/console/console-view.js';
import { ServerHistory } from '../../../../src/cli/console/server-history.js';
import type { LifecycleEvent } from '../../../../src/lifecycle/event.js';
import { text } from '../../../support/arbitraries.js';
import { makeFailure, makeStatus } from '../../../support/make-status.js';

const PLAIN = picocolors.createColors(false);
const COLORED = picocolors.createColors(true);
const SIZE = { columns: 80, rows: 24 };

function makeFacts(given: Partial<ConsoleFacts> = {}): ConsoleFacts {
  const history = new ServerHistory();
  return {
    status: [makeStatus({ toolCount: 2 }), makeStatus({ server: 'db', error: makeFailure() }, 'failed')],
    tools: [],
    historyOf: () => history,
    now: 0,
    answer: '',
    notes: [],
    isEnding: false,
    ...given,
  };
}

function toolNamed(tool: string, server: string, description: string): CatalogTool {
  const inputSchema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
  return {
    name: `mcp__${server}__${tool}`,
    tool,
    server,
    description,
    inputSchema,
  } as unknown as CatalogTool;
}

const log = (server: string, message: string): LifecycleEvent => ({
  type: 'server.log',
  stream: 'stderr',
  server,
  generation: 1,
  message,
  at: 0,
  seq: 1,
});

function historyWith(...messages: readonly string[]): ServerHistory {
  const history = new ServerHistory();
  for (const message of messages) history.add(log('files', message));
  return history;
}

const screen = (state: ConsoleState, facts: ConsoleFacts, size = SIZE): string =>
  renderConsole(state, facts, size, PLAIN)
    .map((line) => line.trimEnd())
    .join('\n');

describe('the list', () => {
  it('says how many servers are ready and which keys there are, or the answer to a key.', () => {
    const lines = screen(AT_START, makeFacts()).split('\n');
    expect(lines).toHaveLength(24);
    expect(lines[1]).toMatch(/^▸ files +ready +2/);
    expect(lines[3]).toMatch(/^ {2}└ process-exited: /);
    expect(lines.slice(-2)).toEqual(['1 of 2 ready, 1 failed', expect.stringContaining('? keys')]);
    expect(
      screen(AT_START, makeFacts({ answer: 'no' }))
        .split('\n')
        .at(-2),
    ).toBe('no');
    const ending = makeFacts({ isEnding: true, answer: 'no' });
    expect(screen(AT_START, ending)).toContain('Stopping; Ctrl-C again forces it.');
    const over = { isEnding: true, status: [makeStatus({ reason: 'close' }, 'stopped')] };
    expect(screen(AT_START, makeFacts(over))).toContain('All stopped.');
  });

  it('shows the latest notes where there is room.', () => {
    const notes = Array.from({ length: 40 }, (_, index) => `note ${index}`);
    const shown = screen(AT_START, makeFacts({ notes }));
    expect(shown).toContain('note 39');
    expect(shown).not.toContain('note 10\n');
    expect(screen(AT_START, makeFacts({ notes }), { columns: 80, rows: 6 })).not.toContain('note');
  });

  it('has the selected one of 200 servers in view.', () => {
    const status = Array.from({ length: 200 }, (_, index) =>
      makeStatus({ server: `s${index}`, error: makeFailure() }, index % 3 === 0 ? 'failed' : 'ready'),
    );
    const facts = makeFacts({ status });
    const servers = status.map(({ server }) => server);
    let state = AT_START;
    for (const [index, server] of servers.entries()) {
      const rows = index % 2 === 0 ? 5 : 24;
      expect(screen(state, facts, { columns: 60, rows })).toContain(`▸ ${server} `);
      state = move(state, 'down', { servers, lines: 0, height: 20 });
    }
  });

  it('needs no color: without colors, nothing but text is written.', () => {
    expect(screen(AT_START, makeFacts())).not.toContain('\u001B');
    const painted = renderConsole(AT_START, makeFacts(), SIZE, COLORED);
    expect(painted.join('\n')).toContain('\u001B[32m');
    expect(painted.map((line) => stringWidth(line))).toEqual(
      renderConsole(AT_START, makeFacts(), SIZE, PLAIN).map((line) => stringWidth(line)),
    );
  });
});

describe('a page about a server', () => {
  const selected = (page: Page, server = 'files'): ConsoleState => open({ ...AT_START, server }, page);

  it('shows its log, following the end until it is scrolled.', () => {
    const history = historyWith(...Array.from({ length: 50 }, (_, index) => `line ${index}.`));
    const facts = makeFacts({ historyOf: () => history });
    expect(screen(selected('log'), facts)).toMatch(/^files {2}ready {2}log +following\n[^]*line 49\./);
    const extent = {
      servers: ['files'],
      lines: linesOf(selected('log'), facts, SIZE),
      height: heightOf(SIZE),
    };
    const scrolled = move(selected('log'), 'first', extent);
    expect(screen(scrolled, facts)).toMatch(/21 of 50, End follows\n\S+ line 0\.\n/);
    history.add(log('files', 'one more'));
    expect(screen(scrolled, facts)).toMatch(/\n\S+ line 0\.\n/);
    expect(screen(selected('log'), facts)).toContain('one more');
    expect(screen(selected('log'), makeFacts({ historyOf: () => historyWith('x', 'x') }))).toContain(
      'x (× 2)',
    );
  });

  it('shows its tools as signatures.', () => {
    const tools = [toolNamed('read', 'files', 'Reads a file. Slowly.'), toolNamed('query', 'db', 'Asks.')];
    const shown = screen(selected('tools'), makeFacts({ tools }));
    expect(shown).toMatch(/\nread\(path: string\)\n {4}Reads a file\.\n/);
    expect(shown).not.toContain('query');
    expect(screen(selected('tools'), makeFacts())).toContain('no tools');
  });

  it('says why it is like this, when it is tried again, and what the server said.', () => {
    const error = makeFailure({ hint: 'Set TOKEN.', stderrTail: ['Error: no token'] });
    const columns = {
      error,
      attempt: 2,
      nextAttemptAt: 4_000,
      stderrTail: ['Error: no token', 'bye', 'bye'],
    };
    const facts = makeFacts({ status: [makeStatus(columns, { reconnecting: 'backingOff' })] });
    const shown = screen(selected('details'), facts);
    for (const part of [
      '2 of 5',
      'retrying in 4 s',
      'r tries at once',
      'process-exited',
      'Set TOKEN.',
      '| Error: no token',
      '| bye (× 2)',
    ])
      expect(shown).toContain(part);
    const history = new ServerHistory();
    history.add({ type: 'connection.lost', server: 'files', generation: 1, failure: error, at: 0, seq: 1 });
    expect(screen(selected('details'), makeFacts({ historyOf: () => history }))).toMatch(
      /last failure, [^]*Set\sTOKEN\./,
    );
  });

  it('is empty if there are no servers.', () => {
    for (const page of ['details', 'log', 'tools'] as const)
      expect(screen(selected(page), makeFacts({ status: [] }))).toContain('no server');
  });
});

describe('the screen', () => {
  const states = [
    'ready',
    'failed',
    'stopped',
    { configuring: 'awaitingTrust' },
    { reconnecting: 'backingOff' },
  ];
  const name = fc.oneof(
    { weight: 2, arbitrary: text },
    { weight: 1, arbitrary: fc.constantFrom('files', '日本語サーバ', '👩‍👩‍👧‍👦', 'e\u0301', 'x'.repeat(300)) },
  );
  const status = fc
    .record({ server: name, message: text, state: fc.constantFrom(...states), url: fc.option(text) })
    .map(({ server, message, state, url }) =>
      makeStatus(
        { server, url, connectedAt: 0, nextAttemptAt: 9_000, error: makeFailure({ message }) },
        state,
      ),
    );
  const page = fc.constantFrom<Page>('list', 'details', 'log', 'tools', 'help');

  it('is never wider or taller than the terminal, whatever servers are called and write.', () => {
    fc.assert(
      fc.property(
        fc.record({ columns: fc.integer({ min: 1, max: 300 }), rows: fc.integer({ min: 1, max: 60 }) }),
        fc.array(status, { maxLength: 30 }),
        fc.array(text, { maxLength: 20 }),
        fc.record({
          page,
          top: fc.option(fc.nat(50), { nil: undefined }),
          pick: fc.nat(30),
          color: fc.boolean(),
        }),
        (size, statuses, words, { page: shown, top, pick, color }) => {
          const history = historyWith(...words);
          const tools = statuses.map(({ server }, index) =>
            toolNamed(words[index] ?? 'tool', server, words[0] ?? ''),
          );
          const facts = makeFacts({ status: statuses, tools, historyOf: () => history, notes: words });
          const server = statuses[pick % (statuses.length || 1)]?.server;
          const lines = renderConsole(
            { ...AT_START, page: shown, top, server },
            facts,
            size,
            color ? COLORED : PLAIN,
          );
          expect(lines).toHaveLength(size.rows);
          for (const line of lines) {
            expect(line).not.toMatch(/[\r\n]/);
            expect(stringWidth(line)).toBeLessThanOrEqual(size.columns);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
