import type { DiagnosticKind } from '../../../../src/diagnostic-kind.js';
import { PassThrough } from 'node:stream';
import { Subject } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { untilStopped } from '../../../../src/cli/commands/up-command.js';
import type { Watched } from '../../../../src/cli/console/console.js';
import { openView } from '../../../../src/cli/console/up-view.js';
import type { LifecycleEvent } from '../../../../src/lifecycle/event.js';
import { createControlledClock } from '../../../support/controlled-clock.js';
import { FakeProcess } from '../../../support/fake-process.js';
import type { Size } from '../../../support/fake-stream.js';
import { makeTerminal } from '../../../support/fake-terminal.js';

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

function makeTroupe() {
  const events$ = new Subject<LifecycleEvent>();
  const troupe = { status: [], tools: [], events$, whyIdle: undefined, connection: () => undefined };
  return troupe satisfies Watched;
}

interface Place {
  readonly size?: Size | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: true. */
  readonly hasKeyboard?: boolean;
  readonly flags?: { readonly json?: boolean; readonly verbose?: boolean };
}

/** What is written for two events, one of which is a detail. */
async function written({ size, env, hasKeyboard = true, flags }: Place): Promise<string> {
  const troupe = makeTroupe();
  const { terminal, stdout } = makeTerminal(size, env);
  const stdin = Object.assign(new PassThrough(), { isTTY: hasKeyboard, setRawMode: () => {} });
  const seat = { terminal, stdin, host: new FakeProcess() };
  const view = await openView(
    troupe,
    { json: false, verbose: false, ...flags },
    seat,
    createControlledClock(0),
  );
  troupe.events$.next(ADDED);
  troupe.events$.next(READY);
  view.close();
  troupe.events$.next(READY);
  expect(troupe.events$.observed).toBe(false);
  stdin.destroy();
  return stdout.written;
}

const SIZE = { columns: 80, rows: 24 };

describe('the view of troupe up', () => {
  it('is one JSON event per line with --json, even on a terminal.', async () => {
    const lines = (await written({ size: SIZE, flags: { json: true } })).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([ADDED, READY]);
  });

  it.each<[string, Place]>([
    ['there is no terminal', {}],
    ['a terminal reports no width', { size: { columns: 0, rows: 24 } }],
    ['a terminal reports no height', { size: { columns: 80, rows: 0 } }],
    ['the terminal knows no commands', { size: SIZE, env: { TERM: 'dumb' } }],
    ['there is no keyboard', { size: SIZE, hasKeyboard: false }],
    ['nobody watches', { size: SIZE, env: { CI: 'true' } }],
    ['details go to the same terminal', { size: SIZE, flags: { verbose: true } }],
  ])('is a line for each important event if %s.', async (_, place) => {
    expect(await written(place)).toBe('1970-01-01T00:00:00.000Z files ready, 2 tools\n');
  });

  it('is a console on a terminal with a keyboard.', async () => {
    expect(await written({ size: SIZE })).toContain('\u001B[?1049h');
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
