/**
 * What `troupe up` shows: lifecycle events as JSON with `--json`, a live table on a terminal, lines of text elsewhere.
 */
import type { ServerStatus } from '../lifecycle/status.js';
import { systemClock } from '../ports.js';
import type { Troupe } from '../troupe.js';
import type { Flags } from './flags.js';
import { openLiveArea } from './live-area.js';
import { toDetail, toHeadline } from './plain-lines.js';
import { RedrawSchedule } from './redraw-schedule.js';
import { toRow } from './row.js';
import { countMoods, renderTable } from './table.js';
import type { Terminal } from './terminal.js';

export interface UpView {
  /** To be called when the troupe is closed; the last state stays on the screen. */
  close(): void;
}

export async function openView(troupe: Troupe, flags: Flags, terminal: Terminal): Promise<UpView> {
  if (flags.json) return showEvents(troupe, terminal);
  if (flags.verbose) noteDetails(troupe, terminal);
  return terminal.isLive(terminal.stdout) ? showTable(troupe, terminal) : showLines(troupe, terminal);
}

function showEvents(troupe: Troupe, terminal: Terminal): UpView {
  const subscription = troupe.events$.subscribe((event) => terminal.print(JSON.stringify(event)));
  return { close: () => subscription.unsubscribe() };
}

function showLines(troupe: Troupe, terminal: Terminal): UpView {
  const subscription = troupe.events$.subscribe((event) => {
    const headline = toHeadline(event);
    if (headline !== undefined) terminal.print(headline);
  });
  return { close: () => subscription.unsubscribe() };
}

function noteDetails(troupe: Troupe, terminal: Terminal): void {
  troupe.events$.subscribe((event) => {
    const detail = toDetail(event);
    if (detail !== undefined) terminal.note(terminal.noteColors.dim(detail));
  });
}

async function showTable(troupe: Troupe, terminal: Terminal): Promise<UpView> {
  const { stdout, colors } = terminal;
  const render = (): string => {
    const { status } = troupe;
    if (status.length === 0) return '';
    const now = systemClock.now();
    const rows = status.map((one) => toRow(one, now));
    const summary = summarizeAll(rows, status);
    return renderTable(rows, summary, { columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 }, colors);
  };
  const area = await openLiveArea(terminal, stdout, render);
  const schedule = new RedrawSchedule(systemClock, () => area.refresh());
  const subscription = troupe.events$.subscribe(() => schedule.changed());
  return {
    close: () => {
      subscription.unsubscribe();
      schedule.close();
      area.close('keep');
    },
  };
}

function whatCtrlCDoes(status: readonly ServerStatus[]): string[] {
  if (status.some(({ state }) => state !== 'stopped' && state !== 'shuttingDown')) return ['Ctrl-C stops'];
  return status.some(({ state }) => state === 'shuttingDown') ? ['stopping; Ctrl-C again forces'] : [];
}
