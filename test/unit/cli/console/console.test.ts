import { PassThrough } from 'node:stream';
import { Subject } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ConnectionCommand } from '../../../../machines/connection/connection.events.js';
import { Console, type Watched } from '../../../../src/cli/console/console.js';
import { NotReadyError } from '../../../../src/errors.js';
import type { LifecycleEvent } from '../../../../src/lifecycle/event.js';
import type { ServerStatus } from '../../../../src/lifecycle/status.js';
import type { DispatchResult } from '../../../../src/servers/connection.js';
import { createControlledClock } from '../../../support/controlled-clock.js';
import { FakeProcess } from '../../../support/fake-process.js';
import { makeTerminal } from '../../../support/fake-terminal.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { makeFailure, makeStatus } from '../../../support/make-status.js';
import { screenOf } from '../../../support/screen.js';

useLeakCheck();

const ENTER = '\u001B[?1049h';
const LEAVE = '\u001B[?1049l';
const SIZE = { columns: 80, rows: 10 };

function openConsole(status: readonly ServerStatus[], answer: DispatchResult = { accepted: true }) {
  const fake = makeTerminal(SIZE);
  const { terminal, stdout, stderr } = fake;
  const clock = createControlledClock(0);
  const host = new FakeProcess();
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (raw: boolean) => void modes.push(raw),
  });
  const sent: string[] = [];
  const events$ = new Subject<LifecycleEvent>();
  const connection = (server: string) => ({
    dispatch: ({ type }: ConnectionCommand) => {
      sent.push(`${type} ${server}`);
      return answer;
    },
  });
  const troupe = { status, tools: [], events$, connection, whyIdle: undefined as NotReadyError | undefined };
  const view = new Console(troupe as unknown as Watched, { terminal, stdin, host }, clock);
  onTestFinished(() => {
    stdin.destroy();
  });
  /** What is written after the terminal was taken. */
  const screen = (): string => screenOf(stdout.written.slice(stdout.written.lastIndexOf(ENTER)));
  const press = async (...keys: readonly string[]): Promise<string> => {
    for (const key of keys) stdin.write(key);
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(100);
    return screen();
  };
  return { ...fake, clock, host, modes, stdin, sent, events$, troupe, view, screen, press, stdout, stderr };
}

const files = makeStatus();
const db = makeStatus({ server: 'db', error: makeFailure({ stderrTail: ['Error: no token'] }) }, 'failed');

describe('the console', () => {
  it('selects servers and opens pages with keys, and comes back.', async () => {
    const { press, view } = openConsole([files, db]);
    expect(await press('j')).toContain('▸ db');
    expect(await press('\u001B[A')).toContain('▸ files');
    expect(await press('\u001B[B', 'd')).toMatch(/^db {2}failed {2}details/);
    expect(await press('l')).toMatch(/^db {2}failed {2}log/);
    expect(await press('?')).toMatch(/^Keys/);
    expect(await press('\u007F', '\u007F')).toContain('▸ db');
    expect(await press('l', '?')).toMatch(/^Keys/);
    expect(await press('\u001B\u001Bk')).toContain('▸ files');
    view.close();
  });

  it.each([
    [files, 's', 'connection.stop files'],
    [db, 's', 'connection.stop db'],
    [makeStatus({ reason: 'stop' }, 'stopped'), 's', 'connection.start files'],
    [makeStatus({}, { configuring: 'dormant' }), 's', 'connection.start files'],
    [db, 'r', 'connection.retry db'],
    [files, 'R', 'connection.restart files'],
  ])('commands a server (%#).', async (status, key, expected) => {
    const { press, sent, view } = openConsole([status]);
    expect(await press(key)).toContain(`${status.server}: `);
    expect(sent).toEqual([expected]);
    view.close();
  });

  it('says why a key has no effect.', async () => {
    const allowed = ['connection.stop', 'connection.restart', 'connection.refresh'];
    const rejected = {
      accepted: false,
      reason: 'unhandled',
      state: 'ready',
      event: 'connection.retry',
      allowed,
    } as const;
    const { press, view } = openConsole([files], rejected);
    expect(await press('r')).toContain(
      'files is ready: retry is not possible now; possible: s stop, R restart',
    );
    expect(await press('x')).toContain("'x' means nothing here");
    expect(await press('\u007F')).toContain('q ends');
    view.close();
    const empty = openConsole([]);
    expect(await empty.press('s')).toContain('There is no server.');
    expect(empty.sent).toEqual([]);
    empty.view.close();
  });

  it('asks to end as a signal does.', async () => {
    const { press, host, view, stdin } = openConsole([files]);
    const heard: string[] = [];
    for (const signal of ['SIGINT', 'SIGQUIT']) host.on(signal, () => heard.push(signal));
    await press('\u001C', 'q', '\u0003');
    expect(heard).toEqual(['SIGQUIT', 'SIGINT', 'SIGINT']);
    stdin.end();
    await press();
    expect(heard).toHaveLength(4);
    view.close();
  });

  it('gives the terminal back while it is suspended, and takes it again.', async () => {
    const { press, host, stdout, modes, screen, view, clock } = openConsole([files]);
    await press('\u001A');
    expect(host.actions).toEqual(['SIGTSTP to 0, heard by 1']);
    host.emit('SIGTSTP');
    expect(stdout.written.endsWith(LEAVE)).toBe(true);
    expect([host.actions.at(-1), modes]).toEqual(['SIGSTOP to 7, heard by 0', [true, false]]);
    host.emit('SIGCONT');
    await clock.advance(100);
    expect(modes).toEqual([true, false, true]);
    expect(screen()).toContain('▸ files');
    view.close();
  });

  it('says so if the system cannot suspend a process.', async () => {
    const { press, host, view } = openConsole([files]);
    host.kill = () => {
      throw new TypeError('Unknown signal: SIGTSTP');
    };
    expect(await press('\u001A')).toContain('cannot suspend');
    view.close();
  });

  it('is drawn anew when the terminal changes its size.', async () => {
    const { stdout, screen, clock, view } = openConsole([files, db]);
    stdout.resize({ columns: 20, rows: 5 });
    await clock.advance(100);
    const lines = screen().split('\n');
    expect(lines).toHaveLength(5);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(20);
    view.close();
  });

  it('writes only lines that have changed.', async () => {
    const { stdout, clock, press, view } = openConsole([files]);
    const before = stdout.written;
    await clock.advance(3_000);
    expect(stdout.written).toBe(before);
    await press('x');
    expect(stdout.written.slice(before.length).split('\u001B[2K')).toHaveLength(2);
    view.close();
  });

  it('keeps what the command says off the screen, and prints it afterwards, with the failures.', async () => {
    const { terminal, stdout, stderr, events$, troupe, clock, screen, view, stdin, host } = openConsole([
      files,
      db,
    ]);
    terminal.note('troupe: a note');
    await clock.advance(100);
    expect(screen()).toContain('troupe: a note');
    expect(stderr.written).toBe('');
    troupe.whyIdle = new NotReadyError('The troupe is closed.');
    troupe.status = [makeStatus({ reason: 'close' }, 'stopped')];
    await clock.advance(1_000);
    expect(screen()).toContain('All stopped.');
    view.close();
    expect(stderr.written).toBe('troupe: a note\n');
    const [left, after] = stdout.written.split(LEAVE);
    expect(left).toContain('\u001B[?25h');
    expect(after).toMatch(/^1 of 2 ready, 1 failed, .* 1s\n✗ db {2}process-exited: .* Error: no token\n$/);
    expect([events$.observed, clock.pending, terminal.diversion]).toEqual([false, [], undefined]);
    expect([stdin.listenerCount('keypress'), stdout.listenerCount('resize'), host.eventNames()]).toEqual([
      0,
      0,
      [],
    ]);
  });

  it('prints the first failures if there are many.', async () => {
    const { stdout, view } = openConsole(
      Array.from({ length: 200 }, (_, index) =>
        makeStatus({ server: `s${index}`, error: makeFailure() }, 'failed'),
      ),
    );
    view.close();
    const [, after = ''] = stdout.written.split(LEAVE);
    expect(after.match(/✗/g)).toHaveLength(20);
    expect(after).toContain('and 180 more');
  });

  it('shows the log of the selected server as it is written.', async () => {
    const { events$, press, view, screen, clock } = openConsole([files]);
    await press('l');
    const log = {
      type: 'server.log',
      stream: 'stderr',
      server: 'files',
      generation: 1,
      at: 0,
      seq: 1,
    } as const;
    events$.next({ ...log, message: 'hello' });
    events$.next({ ...log, server: 'db', message: 'other' });
    await clock.advance(100);
    expect(screen()).toContain('hello');
    expect(screen()).not.toContain('other');
    view.close();
  });
});
