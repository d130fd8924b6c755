/** The timeline of a log as a picture: a lane for each connection, a bar for each state, marks for what went wrong. */
import type { ReplayReport } from '../../event-log/replay/replay-log.js';
import type { ConnectionSummary, StateChange } from '../../event-log/replay/summary.js';
import { preciseDuration } from './duration.js';
import { oneLine } from './terminal.js';

const LEFT = 160;
const WIDTH = 1_000;
const RIGHT = 20;
const LANE = 36;
const BAR = 20;
const TOP = 56;
const TICKS = 8;
const MAX_NAME = 22;
/** Viewers cannot open a file with more bars. */
const MAX_BARS = 20_000;

/** Light and dark: each is readable on its background and also differs from its neighbors in brightness. */
const COLORS: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  configuring: ['#9aa7b8', '#6b7a8f'],
  launching: ['#5b8def', '#5b8def'],
  handshaking: ['#7a5cd6', '#9d86ec'],
  ready: ['#2e9e5b', '#3fb972'],
  reconnecting: ['#e0a100', '#e8b53a'],
  failed: ['#d1382f', '#ef6258'],
  shuttingDown: ['#8c8c8c', '#7d7d7d'],
  stopped: ['#c9c9c9', '#4d4d4d'],
};

const STYLE = `
svg{background:#fff;color:#1c1f23;font:13px system-ui,sans-serif}
text{fill:currentColor}.faint{opacity:.6}.grid{stroke:currentColor;opacity:.15}
.mark{stroke:#fff;stroke-width:1}.failure{fill:#d1382f}.rejection{fill:#7a5cd6}
${Object.entries(COLORS)
  .map(([state, [light]]) => `.${state}{fill:${light}}`)
  .join('')}
@media (prefers-color-scheme:dark){svg{background:#16181c;color:#e6e8ea}
.mark{stroke:#16181c}.failure{fill:#ef6258}.rejection{fill:#b7a5f5}
${Object.entries(COLORS)
  .map(([state, [, dark]]) => `.${state}{fill:${dark}}`)
  .join('')}}`;

/** `changes` are the state changes of the report, in order. */
export function drawTimeline(report: ReplayReport, changes: readonly StateChange[]): string {
  const begin = changes[0]?.at ?? report.header?.startedAt ?? 0;
  const end = Math.max(begin + 1, report.at ?? begin);
  const x = (at: number): string =>
    (LEFT + ((Math.min(Math.max(at, begin), end) - begin) / (end - begin)) * WIDTH).toFixed(1);
  const lanes = [...report.connections];
  const height = TOP + lanes.length * LANE + 20;
  const drawn = lanes.map(([name, summary], index) => {
    const own = changes.filter(({ server }) => server === name);
    return lane(name, summary, { changes: own.slice(0, MAX_BARS), y: TOP + index * LANE, x, end });
  });
  const title = `${report.entries} entries, ${preciseDuration(end - begin)}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LEFT + WIDTH + RIGHT} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    legend(),
    grid(begin, end, height, x),
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

interface Lane {
  readonly changes: readonly StateChange[];
  readonly y: number;
  readonly x: (at: number) => string;
  readonly end: number;
}

function lane(name: string, { failures, rejected }: ConnectionSummary, { changes, y, x, end }: Lane): string {
  const bars = changes.map(({ at, to }, index) => {
    const until = changes[index + 1]?.at ?? end;
    const width = Math.max(0.5, Number(x(until)) - Number(x(at))).toFixed(1);
    const words = `${to}, ${preciseDuration(until - at)}`;
    return `<rect class="${classOf(to)}" x="${x(at)}" y="${y}" width="${width}" height="${BAR}"><title>${escaped(words)}</title></rect>`;
  });
  const failed = failures.map(({ at, code, message }) => mark('failure', x(at), y, `${code}: ${message}`));
  const refused = rejected.map(({ at, event, state }) =>
    mark('rejection', x(at), y + BAR, `${event} was rejected while ${state}`),
  );
  const label = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name;
  return [
    '<g>',
    `<text x="${LEFT - 10}" y="${y + BAR - 5}" text-anchor="end">${escaped(label)}<title>${escaped(name)}</title></text>`,
    ...bars,
    ...failed,
    ...refused,
    '</g>',
  ].join('\n');
}

function mark(kind: string, x: string, y: number, words: string): string {
  const place = `translate(${x} ${y})`;
  return `<path class="mark ${kind}" d="M0 5L-5 -4L5 -4Z" transform="${place}"><title>${escaped(words)}</title></path>`;
}

function legend(): string {
  const step = WIDTH / (Object.keys(COLORS).length + 2);
  const states = Object.keys(COLORS).map((state, index) => {
    const x = LEFT + index * step;
    return `<rect class="${state}" x="${x}" y="10" width="10" height="10"/><text x="${x + 14}" y="19">${state}</text>`;
  });
  const marks = [
    ['failure', 'failure'],
    ['rejection', 'rejected'],
  ].map(([kind = '', label = ''], index) => {
    const x = LEFT + (states.length + index) * step;
    return `${mark(kind, (x + 5).toFixed(1), 15, label)}<text x="${x + 14}" y="19">${label}</text>`;
  });
  return [...states, ...marks].join('\n');
}

function grid(begin: number, end: number, height: number, x: (at: number) => string): string {
  const ticks = Array.from({ length: TICKS + 1 }, (_, index) => begin + ((end - begin) * index) / TICKS);
  return ticks
    .map((at) => {
      const words = `+${((at - begin) / 1_000).toFixed(end - begin < 10_000 ? 2 : 0)} s`;
      return `<line class="grid" x1="${x(at)}" x2="${x(at)}" y1="${TOP - 10}" y2="${height - 10}"/><text class="faint" x="${x(at)}" y="${TOP - 14}" text-anchor="middle">${words}</text>`;
    })
    .join('\n');
}

/** The class of the top-level state. A state that is in no current chart gets the last color. */
function classOf(state: string): string {
  const top = state.split('.')[0] ?? '';
  return Object.hasOwn(COLORS, top) ? top : 'stopped';
}

/** XML 1.0 does not allow some characters even as references (section 2.2). */
const NOT_XML = /[\p{Surrogate}\ufffe\uffff]/gu;

function escaped(text: string): string {
  return oneLine(text)
    .replaceAll(NOT_XML, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
