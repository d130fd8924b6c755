/**
 * The live table as text. It is never wider or taller than the terminal.
 *
 * In a narrow terminal, the name and the address are shortened. In a low one, ready servers are left out, because they
 * need no attention.
 */
import stringWidth from 'string-width';
import { type Colors, nameOf, oneLine } from './terminal.js';
import { fit, truncate } from './fit-text.js';
import { hasTag } from '../../../machines/connection/connection.states.js';
import { stateInWords } from '../../lifecycle/state-in-words.js';
import type { ServerStatus } from '../../lifecycle/status.js';
import { shortDuration } from './duration.js';
import { summarize, summarizeWithCause } from './failure-report.js';
import { serverCommand } from '../../lifecycle/server-command.js';
import { leftOutLines } from './server-notes.js';

export interface TableSize {
  readonly columns: number;
  readonly rows: number;
}

type Column = 'name' | 'state' | 'tools' | 'where' | 'up' | 'attempt' | 'next';

const TITLES: Readonly<Record<Column, string>> = {
  name: 'NAME',
  state: 'STATE',
  tools: 'TOOLS',
  where: 'PID / URL',
  up: 'UP',
  attempt: 'TRY',
  next: 'NEXT',
};
const COLUMNS = Object.keys(TITLES) as readonly Column[];
const GAP = '  ';
/** Room for the usual names of states, so that columns do not move when states change. */
const STATE_WIDTH = 'reconnecting'.length;
const NARROWEST = 8;
/** Header, blank line, summary, and the line of the cursor. */
const OTHER_LINES = 4;

export function renderTable(rows: readonly Row[], summary: string, size: TableSize, colors: Colors): string {
  const width = size.columns - 1;
  const widths = columnWidths(rows, width);
  const header = COLUMNS.map((column) => fit(TITLES[column], widths[column])).join(GAP);
  const { shown, hidden } = fitHeight(rows, size.rows - OTHER_LINES);
  const line = (row: Row): string =>
    paintRow(
      row,
      COLUMNS.map((column) => fit(row[column], widths[column])),
      width,
      colors,
    );
  return [
    colors.dim(truncate(header.trimEnd(), width)),
    ...shown.flatMap((row) => [line(row), ...problemLines(row, width, colors)]),
    ...(hidden.length === 0 ? [] : [colors.dim(truncate(describeHidden(hidden), width))]),
    '',
    truncate(summary, width),
  ].join('\n');
}

/** The number of servers of each health, in words. */
export function countHealth(rows: readonly Row[]): string {
  const count = (health: Health): number => rows.filter((row) => row.health === health).length;
  const others = [
    [count('busy'), 'on the way'],
    [count('bad'), 'failed'],
    [count('off'), 'off'],
  ] as const;
  return [
    `${count('good')} of ${rows.length} ready`,
    ...others.flatMap(([number, words]) => (number === 0 ? [] : [`${number} ${words}`])),
  ].join(', ');
}

/** Each column is as wide as its content. Name and address shrink until the whole fits. */
function columnWidths(rows: readonly Row[], width: number): Record<Column, number> {
  const widest = (column: Column): number =>
    Math.max(stringWidth(TITLES[column]), ...rows.map((row) => stringWidth(row[column])));
  const widths = Object.fromEntries(COLUMNS.map((column) => [column, widest(column)])) as Record<
    Column,
    number
  >;
  widths.state = Math.max(widths.state, STATE_WIDTH);
  const total = (): number =>
    COLUMNS.reduce((sum, column) => sum + widths[column], GAP.length * (COLUMNS.length - 1));
  let excess = total() - width;
  while (excess > 0) {
    const widest = widths.where >= widths.name ? 'where' : 'name';
    if (widths[widest] <= NARROWEST) break;
    widths[widest] -= 1;
    excess -= 1;
  }
  return widths;
}

function paintRow(row: Row, cells: readonly string[], width: number, colors: Colors): string {
  const whole = cells.join(GAP).trimEnd();
  if (row.health === 'off') return colors.dim(truncate(whole, width));
  if (stringWidth(whole) > width) return truncate(whole, width);
  const [name = '', state = '', ...rest] = cells;
  return [name, paintMood(row.health, colors)(state), ...rest].join(GAP).trimEnd();
}

function paintMood(health: Health, colors: Colors): (text: string) => string {
  if (health === 'good') return colors.green;
  return health === 'bad' ? colors.red : colors.yellow;
}

function problemLines({ problem, health }: Row, width: number, colors: Colors): string[] {
  if (problem === '') return [];
  const line = truncate(`${GAP}└ ${problem}`, width);
  return [health === 'bad' ? colors.red(line) : colors.yellow(line)];
}

interface Fitted {
  readonly shown: readonly Row[];
  readonly hidden: readonly Row[];
}

function fitHeight(rows: readonly Row[], height: number): Fitted {
  const linesOf = (row: Row): number => (row.problem === '' ? 1 : 2);
  let lines = rows.reduce((sum, row) => sum + linesOf(row), 0);
  if (lines <= height) return { shown: rows, hidden: [] };
  const hidden = new Set<Row>();
  const last = rows.toReversed();
  const leastNeeded = [...last.filter(isFine), ...last.filter((row) => !isFine(row))];
  for (const row of leastNeeded) {
    if (lines + 1 <= height) break;
    hidden.add(row);
    lines -= linesOf(row);
  }
  return { shown: rows.filter((row) => !hidden.has(row)), hidden: [...hidden] };
}

function isFine({ health }: Row): boolean {
  return health === 'good' || health === 'off';
}

function describeHidden(hidden: readonly Row[]): string {
  const isAllReady = hidden.every(({ health }) => health === 'good');
  return `… and ${hidden.length} more${isAllReady ? ', all ready' : ''}`;
}

// The row of the live table for one server, in words. Pure.

/** `good`: usable. `busy`: on its way. `bad`: needs a person. `off`: not wanted. */
export type Health = 'good' | 'busy' | 'bad' | 'off';

export interface Row {
  readonly health: Health;
  readonly name: string;
  readonly state: string;
  readonly tools: string;
  /** Process id or address. */
  readonly where: string;
  readonly up: string;
  readonly attempt: string;
  /** Time until the next attempt. */
  readonly next: string;
  /** Why it is, or was, not ready; empty if there is nothing to report. */
  readonly problem: string;
}

export function toRow(status: ServerStatus, now: number): Row {
  const { connectedAt, nextAttemptAt, attempt, maxAttempts } = status;
  const health = healthOf(status);
  const isTrying = health === 'busy' || health === 'bad';
  return {
    health,
    name: nameOf(status.server),
    state: stateInWords(status),
    tools: health === 'off' ? '' : String(status.toolCount),
    where: health === 'off' ? '' : oneLine(String(status.pid ?? status.url ?? '')),
    up: connectedAt === null ? '' : shortDuration(now - connectedAt),
    attempt: isTrying && attempt > 0 ? `${attempt}/${maxAttempts}` : '',
    next: nextAttemptAt === null ? '' : shortDuration(Math.ceil((nextAttemptAt - now) / 1_000) * 1_000),
    problem: hasTag(status, 'usable')
      ? leftOutLines(status)
          .map((line) => line.trim())
          .join(' ')
      : problemOf(status),
  };
}

function healthOf(status: ServerStatus): Health {
  if (hasTag(status, 'usable')) return 'good';
  if (status.state === 'stopped' || hasTag(status, 'dormant')) return 'off';
  return status.state === 'failed' || hasTag(status, 'waitingForPerson') ? 'bad' : 'busy';
}

function problemOf(status: ServerStatus): string {
  const { server, error, authUrl } = status;
  if (hasTag(status, 'awaitingTrust')) return serverCommand('trust', server);
  if (hasTag(status, 'authorizing') && authUrl === null) return serverCommand('login', server);
  if (authUrl === null) return error === null ? '' : summarizeWithCause(error);
  return [...(error === null ? [] : [summarize(error)]), oneLine(authUrl)].join(' ');
}
