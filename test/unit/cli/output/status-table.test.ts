import { describe, expect, it } from 'vitest';
import picocolors from 'picocolors';
import stringWidth from 'string-width';
import {
  type Row,
  countHealth,
  renderTable,
  type TableSize,
  toRow,
} from '../../../../src/cli/output/status-table.js';
import { makeFailure, makeStatus } from '../../../support/make-status.js';

const PLAIN = picocolors.createColors(false);
const COLORED = picocolors.createColors(true);

const GOOD: Row = {
  health: 'good',
  name: 'files',
  state: 'ready',
  tools: '14',
  where: '4312',
  up: '3m 04s',
  attempt: '',
  next: '',
  problem: '',
};
const REMOTE: Row = { ...GOOD, name: 'remote', where: 'https://mcp.example.com/a/rather/long/path/mcp' };
const RETRYING: Row = {
  ...GOOD,
  health: 'busy',
  name: '日本語サーバ',
  state: 'reconnecting',
  tools: '3',
  where: '',
  up: '',
  attempt: '2/5',
  next: '12s',
  problem: `process-exited: ${'The server exited with code 3. '.repeat(8).trim()}`,
};
const OFF: Row = { ...GOOD, health: 'off', name: 'spare', state: 'disabled', tools: '', where: '', up: '' };

const render = (rows: readonly Row[], size: TableSize): string[] =>
  renderTable(rows, countHealth(rows), size, PLAIN).split('\n');

describe('the table', () => {
  it('has a line for each server, the reason below it, and a summary.', () => {
    expect(render([GOOD, { ...RETRYING, problem: 'why' }, OFF], { columns: 80, rows: 24 })).toEqual([
      'NAME          STATE         TOOLS  PID / URL  UP      TRY  NEXT',
      'files         ready         14     4312       3m 04s',
      '日本語サーバ  reconnecting  3                         2/5  12s',
      '  └ why',
      'spare         disabled',
      '',
      '1 of 3 ready, 1 on the way, 1 off',
    ]);
  });

  it.each([20, 40, 60, 80, 120, 200])('is never wider than a terminal of %i columns.', (columns) => {
    for (const line of render([GOOD, REMOTE, RETRYING, OFF], { columns, rows: 50 })) {
      expect(stringWidth(line)).toBeLessThan(columns);
    }
  });

  it('shortens only name and address if necessary.', () => {
    const named = { ...REMOTE, name: 'a-server-with-quite-a-long-name' };
    const [header, line] = render([named], { columns: 80, rows: 24 });
    expect(header).toMatch(/STATE +TOOLS +PID \/ URL +UP +TRY +NEXT$/);
    expect(line).toMatch(/^a-server-.*…  ready {9}14 {5}https:\/\/mcp.*…  3m 04s$/);
  });

  it('shows the whole reason if there is room for it.', () => {
    expect(render([RETRYING], { columns: 300, rows: 24 })[2]).toBe(`  └ ${RETRYING.problem}`);
    expect(render([RETRYING], { columns: 80, rows: 24 })[2]).toMatch(/^ {2}└ process-exited: .*…$/);
  });

  it.each([5, 6, 8, 10, 24])('is never taller than a terminal of %i rows.', (rows) => {
    const many = [
      ...Array.from({ length: 20 }, () => ({ ...GOOD })),
      RETRYING,
      { ...RETRYING, health: 'bad' as const },
    ];
    expect(render(many, { columns: 80, rows }).length).toBeLessThan(rows);
  });

  it('hides the servers that need no attention first, and shows how many.', () => {
    const good = Array.from({ length: 20 }, (_, index) => ({ ...GOOD, name: `files-${index}` }));
    const lines = render([...good, { ...RETRYING, name: 'sick' }], { columns: 80, rows: 12 });
    expect(lines.map((line) => line.split(/ {2,}/)[0])).toEqual([
      'NAME',
      'files-0',
      'files-1',
      'files-2',
      'files-3',
      'files-4',
      'sick',
      '',
      '… and 15 more, all ready',
      '',
      '20 of 21 ready, 1 on the way',
    ]);
    const sick = Array.from({ length: 9 }, (_, index) => ({ ...RETRYING, name: `sick-${index}` }));
    expect(render([GOOD, ...sick], { columns: 80, rows: 9 }).join('\n')).toContain('… and 8 more\n');
  });

  it('colors states by the attention they need, without changing the layout.', () => {
    const rows = [GOOD, RETRYING, { ...RETRYING, health: 'bad' as const, state: 'failed' }, OFF];
    const size = { columns: 80, rows: 24 };
    const painted = renderTable(rows, countHealth(rows), size, COLORED);
    expect(painted).toContain(COLORED.green('ready       '));
    expect(painted).toContain(COLORED.yellow('reconnecting'));
    expect(painted).toContain(COLORED.red('failed      '));
    expect(painted.split('\n').map((line) => stringWidth(line))).toEqual(
      render(rows, size).map((line) => stringWidth(line)),
    );
  });
});

const NOW = 1_000_000;

describe('the row of a server', () => {
  it('that is ready shows its tools, its process and its uptime.', () => {
    const status = makeStatus({ toolCount: 14, pid: 4312, connectedAt: NOW - 184_000, attempt: 2 });
    expect(toRow(status, NOW)).toEqual({
      health: 'good',
      name: 'files',
      state: 'ready',
      tools: '14',
      where: '4312',
      up: '3m 04s',
      attempt: '',
      next: '',
      problem: '',
    });
  });

  it('that has no process shows its address.', () => {
    expect(toRow(makeStatus({ url: 'https://example.com/mcp' }), NOW).where).toBe('https://example.com/mcp');
  });

  it('that retries shows which attempt that is, when the next one comes, and why.', () => {
    const columns = {
      attempt: 2,
      nextAttemptAt: NOW + 2_001,
      error: makeFailure({ hint: 'Look at its log.' }),
    };
    expect(toRow(makeStatus(columns, { reconnecting: 'backingOff' }), NOW)).toMatchObject({
      health: 'busy',
      state: 'retrying',
      attempt: '2/5',
      next: '3s',
      problem: 'process-exited: The server exited with code 3. Look at its log.',
    });
  });

  it('keeps the reason visible while the next attempt runs.', () => {
    const status = makeStatus({ attempt: 3, error: makeFailure() }, { starting: 'handshaking' });
    expect(toRow(status, NOW)).toMatchObject({
      health: 'busy',
      attempt: '3/5',
      problem: expect.stringContaining('code 3'),
    });
  });

  it('that failed shows this, and drops old reasons when it is ready again.', () => {
    const columns = { attempt: 5, error: makeFailure() };
    const failed = toRow(makeStatus(columns, 'failed'), NOW);
    expect(failed).toMatchObject({ health: 'bad', state: 'failed', attempt: '5/5' });
    expect(toRow(makeStatus(columns, 'ready'), NOW)).toMatchObject({
      health: 'good',
      problem: '',
      attempt: '',
    });
  });

  it.each([
    [{ configuring: 'dormant' }, null, 'idle, starting on request', 'off'],
    [{ configuring: 'awaitingTrust' }, null, 'waiting for trust', 'bad'],
    [{ configuring: 'authorizing' }, null, 'waiting for sign-in', 'bad'],
    [{ reconnecting: 'offline' }, null, 'waiting for the network', 'busy'],
    ['stopped', 'disabled', 'disabled', 'off'],
    ['stopped', 'close', 'stopped', 'off'],
    [{ starting: { launching: 'opening' } }, null, 'connecting', 'busy'],
    ['shuttingDown', null, 'stopping', 'busy'],
  ] as const)('in %o, for the reason %j, reads %j and is %s.', (state, reason, words, health) => {
    const row = toRow(makeStatus({ reason, url: 'https://example.com/mcp' }, state), NOW);
    expect(row).toMatchObject({
      state: words,
      health,
      where: health === 'off' ? '' : 'https://example.com/mcp',
    });
  });

  it('shows where to sign in.', () => {
    const columns = {
      authUrl: 'https://example.com/sign-in',
      error: makeFailure({ code: 'auth-required', message: 'Refused.' }),
    };
    expect(toRow(makeStatus(columns, { configuring: 'authorizing' }), NOW).problem).toBe(
      'auth-required: Refused. https://example.com/sign-in',
    );
  });

  it.each([
    ['awaitingTrust', 'troupe trust files'],
    ['authorizing', 'troupe login files'],
  ])(
    'that waits in %s names the command that ends the wait, whatever its server wrote.',
    (state, command) => {
      const error = makeFailure({ code: 'auth-required', message: 'Refused.', hint: 'Sign in.' });
      expect(toRow(makeStatus({ error }, { configuring: state }), NOW).problem).toBe(command);
    },
  );

  it('cannot be broken by the names or messages of servers.', () => {
    const row = toRow(
      makeStatus({ server: 'a\u001B[2J\nb', error: makeFailure({ message: 'x\r\ny\u001B[31mz' }) }, 'failed'),
      NOW,
    );
    expect([row.name, row.problem]).toEqual(['a b', 'process-exited: x yz']);
  });
});
