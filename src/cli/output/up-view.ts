/**
 * The output of `troupe up`: lifecycle events as JSON with `--json`, a live table on a terminal, lines of text
 * elsewhere.
 */
import { systemClock, type Clock } from '../../ports.js';
import type { Troupe } from '../../runtime/troupe.js';
import type { Flags } from '../arguments/flags.js';
import { openLiveArea, RedrawSchedule } from './live-area.js';
import { toHeadline } from './plain-lines.js';
import { toRow, type Row, countHealth, renderTable } from './status-table.js';
import type { Terminal } from './terminal.js';

export interface UpView {
  /** Call it when the troupe is closed; the last state stays on the screen. */
  close(): void;
}

/** The table shows running times. */
const TICK_MS = 1_000;

type Watched = Pick<Troupe, 'status' | 'events$' | 'whyIdle'>;

export async function openView(
  troupe: Watched,
  flags: Pick<Flags, 'json'>,
  terminal: Terminal,
  clock: Clock = systemClock,
): Promise<UpView> {
  if (flags.json) return showEvents(troupe, terminal);
  return terminal.isLive(terminal.stdout) ? showTable(troupe, terminal, clock) : showLines(troupe, terminal);
}

function showEvents(troupe: Watched, terminal: Terminal): UpView {
  const subscription = troupe.events$.subscribe((event) => terminal.printJson('up', event));
  return { close: () => subscription.unsubscribe() };
}

function showLines(troupe: Watched, terminal: Terminal): UpView {
  const subscription = troupe.events$.subscribe((event) => {
    const headline = toHeadline(event);
    if (headline !== undefined) terminal.print(headline);
  });
  return { close: () => subscription.unsubscribe() };
}

async function showTable(troupe: Watched, terminal: Terminal, clock: Clock): Promise<UpView> {
  const { stdout, colors } = terminal;
  let hasStarted = false;
  const render = (): string => {
    const { status } = troupe;
    if (status.length === 0 && !hasStarted) return '';
    const now = clock.now();
    const rows = status.map((one) => toRow(one, now));
    const summary = summarizeAll(rows, troupe);
    return renderTable(rows, summary, { columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 }, colors);
  };
  const area = await openLiveArea(terminal, stdout, render);
  const schedule = new RedrawSchedule(clock, () => area.refresh(), TICK_MS);
  const subscription = troupe.events$.subscribe(({ type }) => {
    hasStarted ||= type === 'manager.started';
    schedule.changed();
  });
  return {
    close: () => {
      subscription.unsubscribe();
      schedule.close();
      area.close('keep');
    },
  };
}

/** While the troupe runs, a server stops only because of the configuration or a command. */
function summarizeAll(rows: readonly Row[], { status, whyIdle }: Watched): string {
  if (whyIdle === undefined) {
    return `${rows.length === 0 ? 'No servers' : countHealth(rows)} · Ctrl-C stops`;
  }
  const isOver = status.every(({ state }) => state === 'stopped');
  return isOver ? 'All stopped.' : 'Stopping; Ctrl-C again forces it.';
}
