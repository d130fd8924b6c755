import type { DiagnosticKind } from '../../../../src/diagnostic-kind.js';
import { Subject } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { untilStopped } from '../../../../src/cli/commands/up-command.js';
import { openView } from '../../../../src/cli/output/up-view.js';
import { NotReadyError } from '../../../../src/errors.js';
import type { LifecycleEvent } from '../../../../src/lifecycle/event.js';
import type { ServerStatus } from '../../../../src/lifecycle/status.js';
import { createControlledClock } from '../../../support/controlled-clock.js';
import { makeTerminal } from '../../../support/fake-terminal.js';
import { makeStatus } from '../../../support/make-status.js';
import { screenOf } from '../../../support/screen.js';

const READY: LifecycleEvent = {
  type: 'connection.ready',
  server: 'files',
  generation: 1,
  toolCount: 2,
  at: 0,
  seq: 7,
};
const ADDED: LifecycleEvent = {
  type: 'connection.added',
  server: 'files',
  generation: 0,
  source: 'team.mcp.json',
  at: 0,
  seq: 1,
};

const STARTED: LifecycleEvent = { type: 'manager.started', connections: 1, at: 0, seq: 2 };

function makeTroupe(status: readonly ServerStatus[] = []) {
  const events$ = new Subject<LifecycleEvent>();
  const facts: { status: typeof status; whyIdle: NotReadyError | undefined } = { status, whyIdle: undefined };
  return { ...facts, events$ };
}

describe('the view of troupe up', () => {
  it('is one JSON event per line with --json, even on a terminal.', async () => {
    const troupe = makeTroupe();
    const { terminal, stdout } = makeTerminal({ columns: 80, rows: 24 });
    const view = await openView(troupe, { json: true }, terminal);
    troupe.events$.next(ADDED);
    troupe.events$.next(READY);
    view.close();
    troupe.events$.next(READY);
    expect(
      stdout.written
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([ADDED, READY]);
  });

  it.each([
    ['there is no terminal', undefined],
    ['a terminal reports no width', { columns: 0, rows: 24 }],
    ['a terminal reports no height', { columns: 80, rows: 0 }],
  ])('is a line for each important event if %s.', async (_, size) => {
    const troupe = makeTroupe();
    const { terminal, stdout } = makeTerminal(size);
    const view = await openView(troupe, { json: false }, terminal);
    troupe.events$.next(ADDED);
    troupe.events$.next(READY);
    view.close();
    troupe.events$.next(READY);
    expect(stdout.written).toBe('1970-01-01T00:00:00.000Z files ready, 2 tools\n');
  });

  it('is a table on a terminal, with running times and current states.', async () => {
    const clock = createControlledClock(0);
    const troupe = makeTroupe();
    const { terminal, stdout } = makeTerminal({ columns: 80, rows: 24 });
    const view = await openView(troupe, { json: false }, terminal, clock);
    const screen = (): string => screenOf(stdout.written);
    expect(screen()).toBe('');

    troupe.status = [makeStatus({ toolCount: 2, connectedAt: 0 })];
    troupe.events$.next(READY);
    await clock.advance(100);
    expect(screen()).toMatch(/files {2}ready {9}2 {17}0s\n\n1 of 1 ready · Ctrl-C stops$/);
    await clock.advance(2_000);
    expect(screen()).toMatch(/ 2s\n/);

    troupe.whyIdle = new NotReadyError('The troupe is closed.');
    troupe.status = [makeStatus({}, { shuttingDown: { procedure: 'closing' } })];
    troupe.events$.next(READY);
    await clock.advance(100);
    expect(screen()).toMatch(/stopping.*\n\nStopping; Ctrl-C again forces it\.$/);

    troupe.status = [makeStatus({ reason: 'close' }, 'stopped')];
    view.close();
    expect(screen()).toMatch(/files {2}stopped\n\nAll stopped\.$/);
    expect([clock.pending, troupe.events$.observed]).toEqual([[], false]);
  });

  it('announces the end only if the command ends: servers that a changed file stops leave it running.', async () => {
    const clock = createControlledClock(0);
    const troupe = makeTroupe();
    const { terminal, stdout } = makeTerminal({ columns: 80, rows: 24 });
    const view = await openView(troupe, { json: false }, terminal, clock);
    const screenAfter = async (
      event: LifecycleEvent,
      ...status: readonly ServerStatus[]
    ): Promise<string> => {
      troupe.status = status;
      troupe.events$.next(event);
      await clock.advance(100);
      return screenOf(stdout.written);
    };
    expect(await screenAfter(STARTED, makeStatus())).toMatch(/\n1 of 1 ready · Ctrl-C stops$/);
    const ending = makeStatus({}, 'shuttingDown');
    expect(await screenAfter(READY, ending)).toMatch(/\n0 of 1 ready, 1 on the way · Ctrl-C stops$/);
    const disabled = makeStatus({ reason: 'disabled' }, 'stopped');
    expect(await screenAfter(READY, disabled)).toMatch(/disabled\n\n0 of 1 ready, 1 off · Ctrl-C stops$/);
    expect(await screenAfter(READY)).toMatch(/^NAME .*\n\nNo servers · Ctrl-C stops$/);
    troupe.whyIdle = new NotReadyError('The troupe is closed.');
    view.close();
    expect(screenOf(stdout.written)).toMatch(/\n\nAll stopped\.$/);
  });
});

describe('troupe up', () => {
  const start = (): Promise<never> => new Promise(() => {});

  it('runs until it is stopped, and succeeds then.', async () => {
    const stop = new AbortController();
    const { events$ } = makeTroupe();
    const end = untilStopped({ start, events$ }, stop.signal);
    events$.next(READY);
    stop.abort();
    await expect(end).resolves.toBe(0);
    expect(events$.observed).toBe(false);
  });

  it('starts nothing if it is stopped before, so that no failure of a start is left unhandled.', async () => {
    const never = vi.fn(start);
    const { events$ } = makeTroupe();
    await expect(untilStopped({ start: never, events$ }, AbortSignal.abort())).resolves.toBe(0);
    expect(never).not.toHaveBeenCalled();
  });

  it('prints what happens to the files, even during the start, but does not repeat what was reported before.', async () => {
    const [stop, noted] = [new AbortController(), [] as string[]];
    const { events$ } = makeTroupe();
    const report = (kind: DiagnosticKind): void =>
      events$.next({ type: 'diagnostic', kind, message: kind, at: 0, seq: 1 });
    const started = Promise.resolve({ ready: [], failed: [], pending: [], sources: [], dropped: [] });
    const end = untilStopped({ start: () => started, events$ }, stop.signal, (text) => noted.push(text));
    for (const kind of ['config-problem', 'watch-problem', 'record-failed', 'no-listening-stream'] as const)
      report(kind);
    expect(noted).toEqual(['watch-problem', 'record-failed']);
    await started;
    for (const kind of ['config-problem', 'config-reloaded'] as const) report(kind);
    expect(noted.slice(2)).toEqual(['config-problem', 'config-reloaded']);
    stop.abort();
    await end;
  });

  it('ends with the reason if the runtime itself fails.', async () => {
    const { signal } = new AbortController();
    const { events$ } = makeTroupe();
    const end = untilStopped({ start, events$ }, signal);
    events$.next({ type: 'manager.failed', message: 'a bug', at: 0, seq: 1 });
    await expect(end).rejects.toThrow('a bug');
    await expect(
      untilStopped({ start: async () => Promise.reject(new Error('closed')), events$ }, signal),
    ).rejects.toThrow('closed');
  });
});
