import { describe, expect, it } from 'vitest';
import type { Line } from '../../../../src/cli/console/line.js';
import type { Row } from '../../../../src/cli/console/server-row.js';
import { serverTable } from '../../../../src/cli/console/server-table.js';

const GOOD: Row = {
  health: 'good',
  server: 'files',
  state: 'ready',
  tools: '14',
  uptime: '3m 04s',
  restarts: '',
  transport: 'stdio',
  where: '4312',
  problem: '',
};
const RETRYING: Row = {
  ...GOOD,
  health: 'busy',
  server: '日本語サーバ',
  state: 'retrying in 3 s',
  tools: '0',
  uptime: '',
  restarts: '2',
  where: '',
  problem: 'why',
};
const OFF: Row = {
  ...GOOD,
  health: 'off',
  server: 'spare',
  state: 'disabled',
  tools: '',
  uptime: '',
  where: '',
};

const textOf = (line: Line): string =>
  line
    .map(({ text }) => text)
    .join('')
    .trimEnd();
const looksOf = (line: Line | undefined): unknown[] => (line ?? []).map(({ look }) => look);

describe('the table of servers', () => {
  it('has a heading, a line for each server, the reason below it, and a mark at the selected one.', () => {
    const { heading, lines, selectedAt } = serverTable([GOOD, RETRYING, OFF], 2, 90);
    expect([heading, ...lines].map(textOf)).toEqual([
      '  SERVER        STATE            TOOLS  UPTIME  RESTARTS  TRANSPORT  PID / URL',
      '  files         ready            14     3m 04s            stdio      4312',
      '  日本語サーバ  retrying in 3 s  0              2         stdio',
      '  └ why',
      '▸ spare         disabled                                  stdio',
    ]);
    expect(selectedAt).toBe(3);
  });

  it.each([
    [80, 'SERVER STATE TOOLS UPTIME RESTARTS TRANSPORT PID / URL'],
    [70, 'SERVER STATE TOOLS UPTIME RESTARTS TRANSPORT'],
    [60, 'SERVER STATE TOOLS UPTIME RESTARTS'],
    [40, 'SERVER STATE TOOLS'],
    [20, 'SERVER STATE'],
  ])('leaves out the less important columns in %i columns.', (width, headings) => {
    const { heading } = serverTable([GOOD, RETRYING], 0, width);
    expect(textOf(heading).trim().split(/ {2,}/).join(' ')).toBe(headings);
  });

  it('shortens names and addresses before it leaves out a column.', () => {
    const named = {
      ...GOOD,
      server: 'a-server-with-quite-a-long-name',
      where: 'https://example.com/a/long/path',
    };
    const [line = []] = serverTable([named], -1, 80).lines;
    expect(textOf(line)).toMatch(/^ {2}a-server-\S*… {2}ready {2,}14 .* https:\S*…$/);
  });

  it('colors states by the attention they need.', () => {
    const { lines } = serverTable([GOOD, RETRYING, { ...RETRYING, health: 'bad' }, OFF], 0, 80);
    expect([0, 1, 2, 3, 4, 5].map((index) => looksOf(lines[index]))).toEqual([
      ['bold', 'bold', 'green', 'plain'],
      ['bold', 'plain', 'yellow', 'plain'],
      ['yellow'],
      ['bold', 'plain', 'red', 'plain'],
      ['red'],
      ['bold', 'dim', 'dim', 'dim'],
    ]);
  });
});
