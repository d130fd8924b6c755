import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { SAME_PRESS_MS } from '../../../src/cli/exit.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { faulty, MISSING, QUICK, useTeam } from '../../support/team.js';
import { TerminalProcess, type TerminalOptions } from '../../support/terminal-process.js';
import { MAIN } from '../../support/troupe-process.js';

useLeakCheck();
const team = useTeam();

/** Writes a line to stderr every 50 ms, with a secret. */
const TALKING = {
  command: process.execPath,
  args: [
    '-e',
    `let n = 0; setInterval(() => console.error('line ' + (n += 1) + ' ' + process.env.TOKEN), 50);
     import(${JSON.stringify(QUICK.args[0])});`,
  ],
  env: { TOKEN: 'hunter2-hunter2' },
};

const opened: TerminalProcess[] = [];
function up(servers: Readonly<Record<string, unknown>>, options?: TerminalOptions): TerminalProcess {
  const config = team().write('console.json', servers);
  const terminal = TerminalProcess.troupe(['up', '--config', config], options);
  opened.push(terminal);
  return terminal;
}

async function end(terminal: TerminalProcess, key = 'q'): Promise<string> {
  terminal.type(key);
  expect(await terminal.finished()).toBe(0);
  expect(terminal.isAlternative).toBe(false);
  expect(terminal.written).toContain('\u001B[?25h');
  return terminal.text;
}

afterEach(async () => {
  for (const terminal of opened.splice(0)) await terminal.close();
});

describe('troupe up on a terminal', () => {
  it('shows the servers, commands them with keys, and leaves the failures on the normal screen.', async () => {
    const terminal = up({ quick: QUICK, missing: MISSING });
    await terminal.shows(/▸ quick +ready +2[^]*missing +failed[^]*1 of 2 ready, 1 failed/);
    expect(terminal.isAlternative).toBe(true);
    terminal.type('s');
    await terminal.shows(/▸ quick +stopped/);
    terminal.type('r');
    await terminal.shows(/quick is stopped: retry is not possible now; possible: s start/);
    terminal.type('s');
    await terminal.shows(/▸ quick +ready/);
    terminal.type('jr');
    await terminal.shows(/missing: retry/);
    terminal.type('\r');
    await terminal.shows(/^missing {2}failed {2}details[^]*command-not-found/);
    terminal.type('\u001B');
    await terminal.shows(/▸ missing/);
    terminal.type('kt');
    await terminal.shows(/^quick {2}ready {2}tools\necho\(\)\nwait\(\)/);
    terminal.type('?');
    await terminal.shows(/^Keys\n/);
    const after = await end(terminal);
    expect(after).toMatch(
      /^1 of 2 ready, 1 failed, until stopped after \d+s\n✗ missing {2}command-not-found: /,
    );
    expect(after).not.toContain('Keys');
  });

  it('follows a log without its secrets while the server is killed and comes back.', async () => {
    const terminal = up({ talking: TALKING }, { columns: 160 });
    const [, pid = ''] = /stdio +(\d+)/.exec(await terminal.shows(/talking +ready .*stdio +\d+/)) ?? [];
    terminal.type('l');
    await terminal.shows(/^talking {2}ready {2}log[^]* line \d+ /);
    process.kill(Number(pid), 'SIGKILL');
    await terminal.shows(/· lost: process-exited: .*SIGKILL[^]*· ready, 2 tools[^]* line \d+ /);
    expect(terminal.text).not.toContain('hunter2');
    terminal.type('\u007F');
    await terminal.shows(/talking +ready +2 +\d+s +1 /);
    await end(terminal, '\u0003');
  });

  it.each([
    ['narrow and low', 20, 5],
    ['wide', 300, 60],
  ])('fits into a terminal that becomes %s.', async (_, columns, rows) => {
    const terminal = up({ quick: QUICK, 日本語サーバ: QUICK, '👩‍👩‍👧‍👦': MISSING, missing: MISSING });
    await terminal.shows(/2 of 4 ready, 2 failed/);
    terminal.resize(columns, rows);
    for (const key of ['G', 'g', 'G', '?', '\u007F', 'd']) {
      terminal.type(key);
      await terminal.shows(
        { G: /▸ missing/, g: /▸ quick/, '?': /^Keys/, '\u007F': /▸ missing/, d: /^missing/ }[key] ?? /x/,
      );
      expect(terminal.text.split('\n').length).toBeLessThanOrEqual(rows);
    }
    terminal.type('\u007F');
    terminal.resize(80, 24);
    await terminal.shows(/SERVER +STATE[^]*quick[^]*▸ missing[^]*2 of 4 ready, 2 failed/);
    await end(terminal);
  });

  it.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)('gives the terminal back after %s.', async (signal) => {
    const terminal = up({ quick: QUICK });
    await terminal.shows(/1 of 1 ready/);
    terminal.signal(signal);
    expect(await terminal.finished()).toBe(0);
    expect([terminal.isAlternative, terminal.text]).toEqual([
      false,
      expect.stringMatching(/^1 of 1 ready, until/),
    ]);
  });

  it('kills what does not stop after a second Ctrl-C.', async () => {
    const deaf = { ...faulty('deaf-to-shutdown'), policy: { stop: { stdinEndMs: 60_000 } } };
    const terminal = up({ deaf });
    await terminal.shows(/1 of 1 ready/);
    terminal.type('q');
    await terminal.shows(/Stopping; Ctrl-C again forces it/);
    await pause(SAME_PRESS_MS);
    terminal.type('\u0003');
    expect(await terminal.finished()).toBe(0);
    expect(terminal.isAlternative).toBe(false);
  });

  it('gives the terminal back when an error ends the process, which is shown.', async () => {
    const config = team().write('console.json', { quick: QUICK });
    const crash = 'data:text/javascript,process.on("SIGUSR2",()=>{throw new Error("boom")})';
    const terminal = new TerminalProcess(process.execPath, [
      '--import',
      crash,
      MAIN,
      'up',
      '--config',
      config,
    ]);
    opened.push(terminal);
    await terminal.shows(/1 of 1 ready/);
    terminal.signal('SIGUSR2');
    expect(await terminal.finished()).toBe(1);
    expect([terminal.isAlternative, terminal.text]).toEqual([false, expect.stringContaining('Error: boom')]);
  });

  it('can be suspended and resumed in a shell.', async () => {
    const config = team().write('console.json', { quick: QUICK });
    const shell = new TerminalProcess('bash', ['--norc', '-i'], { env: { PS1: '$ ' } });
    const troupe = `'${process.execPath}' dist/bundle/src/cli/main.js up --config '${config}'`;
    opened.push(shell);
    await shell.shows(/\$/);
    shell.type(`${troupe}\r`);
    await shell.shows(/▸ quick +ready/);
    shell.type('\u001A');
    await shell.shows(/Stopped/);
    expect(shell.isAlternative).toBe(false);
    shell.type('stty -a | grep -o "[ -]icanon"; fg\r');
    await shell.shows(/▸ quick +ready/);
    expect(shell.isAlternative).toBe(true);
    shell.type('q');
    await shell.until(() => !shell.isAlternative, 'the console was closed');
    expect(await shell.shows(/until stopped/)).toContain(' icanon');
    shell.type('exit\r');
    await shell.finished();
  });

  it('uses no color with NO_COLOR, and no screen with TERM=dumb, in CI and without a keyboard.', async () => {
    const plain = up({ quick: QUICK }, { env: { NO_COLOR: '1' } });
    await plain.shows(/▸ quick +ready/);
    await end(plain);
    expect(plain.written).not.toContain('\u001B[1m');
    expect(plain.written).not.toContain('\u001B[32m');
    for (const env of [{ TERM: 'dumb' }, { CI: 'true' }]) {
      const lines = up({ quick: QUICK }, { env });
      await lines.shows(/^\d{4}-\S+Z quick ready, 2 tools/);
      lines.signal('SIGINT');
      expect(await lines.finished()).toBe(0);
      expect(lines.written).not.toContain('\u001B[?1049h');
    }
  });
});
