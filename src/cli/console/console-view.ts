/** The console as lines of text: never wider or taller than the terminal. Pure. */
import stringWidth from 'string-width';
import type { CatalogTool } from '../../catalog/registry.js';
import type { ServerStatus } from '../../lifecycle/status.js';
import { shortDuration } from '../output/duration.js';
import { explain, summarizeWithCause } from '../output/failure-report.js';
import { leftOutLines } from '../output/server-notes.js';
import { manyLines, nameOf, oneLine, type Colors } from '../output/terminal.js';
import { firstSentence, toSignature } from '../../catalog/tool-signature.js';
import { stateInWords } from '../../lifecycle/state-in-words.js';
import { selectedIndex, type ConsoleState, type Page } from './console-state.js';
import { BINDINGS } from './keys.js';
import { line, paint, wrapped, type Line } from './line.js';
import type { LogLine, ServerHistory } from './server-history.js';
import { countHealth, toRow } from './server-row.js';
import { serverTable } from './server-table.js';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** What the console shows. */
export interface ConsoleFacts {
  readonly status: readonly ServerStatus[];
  readonly tools: readonly CatalogTool[];
  readonly historyOf: (server: string) => Pick<ServerHistory, 'lines' | 'restarts' | 'lastFailure'>;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The answer to the last key; empty if there is none. */
  readonly answer: string;
  /** What the command had to say, oldest first. */
  readonly notes: readonly string[];
  readonly isEnding: boolean;
}

/** Heading, answer or summary, keys. */
const OTHER_LINES = 3;
/** A narrow terminal cuts the end. */
const KEYS: Readonly<Record<Page, string>> = {
  list: '? keys  q quit  ↑↓ select  Enter details  l log  t tools  r retry  s stop/start',
  details: '? keys  Esc back  ↑↓ scroll  l log  t tools  r retry  s stop/start',
  log: '? keys  Esc back  ↑↓ scroll  End follow  d details  r retry  s stop/start',
  tools: '? keys  Esc back  ↑↓ scroll  d details  l log',
  help: 'Esc back  q quit',
};

/** The lines that the screen has for a page. Where there is no room for more, there is nothing else. */
export function heightOf({ rows }: Size): number {
  return rows > OTHER_LINES ? rows - OTHER_LINES : rows;
}

/** The number of lines of the page. */
export function linesOf(state: ConsoleState, facts: ConsoleFacts, { columns }: Size): number {
  return state.page === 'list' ? 0 : pageOf(state, facts, columns).length;
}

export function renderConsole(
  state: ConsoleState,
  facts: ConsoleFacts,
  size: Size,
  colors: Colors,
): readonly string[] {
  const height = heightOf(size);
  const { heading, shown } = state.page === 'list' ? list(state, facts, size) : scrolled(state, facts, size);
  const body = shown.slice(0, height);
  while (body.length < height) body.push([]);
  const lines =
    size.rows > OTHER_LINES ? [heading, ...body, bottomLine(facts), line(KEYS[state.page], 'dim')] : body;
  return lines.map((each) => paint(each, size.columns, colors));
}

interface Shown {
  readonly heading: Line;
  readonly shown: Line[];
}

function bottomLine({ status, answer, isEnding }: ConsoleFacts): Line {
  if (isEnding) {
    const isOver = status.every(({ state }) => state === 'stopped');
    return line(isOver ? 'All stopped.' : 'Stopping; Ctrl-C again forces it.', 'bold');
  }
  if (answer !== '') return line(answer, 'bold');
  return line(status.length === 0 ? 'no servers' : countHealth(status));
}

/** The table, with the selected server in view, and the latest notes in the rows that are left. */
function list(state: ConsoleState, { status, historyOf, now, notes }: ConsoleFacts, size: Size): Shown {
  const height = heightOf(size);
  const rows = status.map((one) => toRow(one, historyOf(one.server).restarts, now));
  const names = status.map(({ server }) => server);
  const { heading, lines, selectedAt } = serverTable(rows, selectedIndex(state, names), size.columns);
  const from = Math.max(0, Math.min(lines.length - height, selectedAt - Math.floor((height - 1) / 2)));
  const shown = lines.slice(from, from + height);
  const room = height - shown.length - 1;
  if (room > 0 && notes.length > 0) {
    shown.push([], ...notes.flatMap((note) => wrapped(manyLines(note), size.columns, 'dim')).slice(-room));
  }
  return { heading, shown };
}

/** The part of a page that is in view, and where it is. */
function scrolled(state: ConsoleState, facts: ConsoleFacts, size: Size): Shown {
  const height = heightOf(size);
  const lines = pageOf(state, facts, size.columns);
  const last = Math.max(0, lines.length - height);
  const top = Math.min(state.top ?? last, last);
  const place = last === 0 ? '' : `${Math.min(lines.length, top + height)} of ${lines.length}`;
  const where =
    state.page === 'log' ? (state.top === undefined ? 'following' : `${place}, End follows`) : place;
  const title = titleOf(state, facts);
  const room = Math.max(stringWidth(where) + 2, size.columns - stringWidth(title));
  const atRight = where === '' ? '' : ' '.repeat(room - stringWidth(where)) + where;
  const heading = [
    { text: title, look: 'bold' },
    { text: atRight, look: 'dim' },
  ] as const;
  return { heading, shown: lines.slice(top, top + height) };
}

function selectedStatus(state: ConsoleState, { status }: ConsoleFacts): ServerStatus | undefined {
  const names = status.map(({ server }) => server);
  return status[selectedIndex(state, names)];
}

function titleOf(state: ConsoleState, facts: ConsoleFacts): string {
  if (state.page === 'help') return 'Keys';
  const selected = selectedStatus(state, facts);
  if (selected === undefined) return '';
  return `${nameOf(selected.server)}  ${stateInWords(selected, facts.now)}  ${state.page}`;
}

function pageOf(state: ConsoleState, facts: ConsoleFacts, width: number): readonly Line[] {
  const selected = selectedStatus(state, facts);
  if (state.page === 'help') return helpLines(width);
  if (selected === undefined) return [line('no server')];
  if (state.page === 'tools') return toolLines(selected, facts, width);
  if (state.page === 'log') return logLines(facts.historyOf(selected.server).lines, width);
  return detailLines(selected, facts, width);
}

function helpLines(width: number): readonly Line[] {
  const room = Math.max(...BINDINGS.map(({ shown }) => stringWidth(shown)));
  const keys = BINDINGS.map(({ shown, meaning }): Line => [
    { text: shown + ' '.repeat(room - stringWidth(shown)), look: 'cyan' },
    { text: `  ${meaning}` },
  ]);
  const columns = [
    'RESTARTS: how often the server became ready again.',
    'UPTIME: for how long it has been ready.',
    'The line below a server says why it is not ready, or which of its tools are left out.',
  ];
  return [...keys, [], ...columns.flatMap((text) => wrapped(text, width))];
}

function toolLines({ server }: ServerStatus, { tools }: ConsoleFacts, width: number): readonly Line[] {
  const own = tools.filter((tool) => tool.server === server);
  if (own.length === 0) return [line('It offers no tools now.')];
  return own.flatMap((tool) => {
    const text = firstSentence(oneLine(tool.description ?? tool.title ?? ''));
    const description = text === '' ? [] : wrapped(`    ${text}`, width, 'dim');
    return [...wrapped(toSignature(tool), width, 'cyan'), ...description];
  });
}

function logLines(lines: readonly LogLine[], width: number): readonly Line[] {
  if (lines.length === 0) return [line('It has written nothing yet.')];
  return lines.flatMap(({ at, text, count, isOutput }) => {
    const times = count === 1 ? '' : ` (× ${count})`;
    return wrapped(
      `${timeOf(at)} ${isOutput ? '' : '· '}${text}${times}`,
      width,
      isOutput ? 'plain' : 'yellow',
    );
  });
}

function timeOf(at: number): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}

/** Why it is as it is, when it is tried again, what a person can do, and what else is known. */
function detailLines(status: ServerStatus, { historyOf, now }: ConsoleFacts, width: number): readonly Line[] {
  const { connectedAt, nextAttemptAt, transport, pid, url, source, serverInfo, protocolVersion } = status;
  const { restarts, lastFailure } = historyOf(status.server);
  const { error, outdated, trustRequest } = status;
  const isPast = error === null && lastFailure !== undefined;
  const why = [
    ...(error === null && trustRequest === null ? [] : [...explain(status), ADVICE]),
    ...(isPast ? [`last failure, ${timeOf(lastFailure.at)}: ${summarizeWithCause(lastFailure)}`] : []),
    ...(outdated === null ? [] : [`not reloaded: ${summarizeWithCause(outdated)}`]),
    ...leftOutLines(status),
  ];
  const facts: readonly (readonly [label: string, text: string | number | null])[] = [
    ['uptime', connectedAt === null ? null : shortDuration(now - connectedAt)],
    ['restarts', restarts],
    ['transport', transport],
    ['process', pid],
    ['address', url],
    ['configured in', source],
    ['server', serverInfo === null ? null : `${serverInfo.name} ${serverInfo.version}`],
    ['protocol', protocolVersion],
  ];
  const fact = (label: string, text: string | number | null): readonly Line[] =>
    text === null ? [] : wrapped(`${label.padEnd(14)}${oneLine(String(text))}`, width);
  return [
    ...fact('state', stateInWords(status, now)),
    ...fact('next attempt', nextAttemptAt === null ? null : `${timeOf(nextAttemptAt)}; r tries at once`),
    [],
    ...(why.length === 0 ? [] : [...why.flatMap((text) => wrapped(text, width, 'yellow')), []]),
    ...facts.flatMap(([label, text]) => fact(label, text)),
  ];
}

const ADVICE = 'When the cause is removed, r tries again; l shows the whole log.';
