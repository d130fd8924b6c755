/** Bars of one metric, as an SVG without scripts that follows the light or dark mode of the reader. */
import { LABELS } from './contenders.mjs';
import { number } from './numbers.mjs';
import { figureIn } from './results.mjs';

const BAR = { height: 16, gap: 6 };
const LABEL_WIDTH = 280;
const BARS_WIDTH = 380;
const WIDTH = LABEL_WIDTH + BARS_WIDTH + 120;
const COLORS = { troupe: 'ours', sdk: 'sdk', floor: 'floor' };
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f } .page { fill: #f6f8fa }
  .head { font-weight: 600 }
  .ours { fill: #1a7f5a } .sdk { fill: #6e7781 } .floor { fill: #afb8c1 } .peer { fill: #8fa8c8 }
  .spread { stroke: #24292f }
  @media (prefers-color-scheme: dark) {
    text { fill: #d1d7e0 } .spread { stroke: #d1d7e0 } .page { fill: #0d1117 }
    .ours { fill: #3fb988 } .sdk { fill: #9198a1 } .floor { fill: #59636e } .peer { fill: #5b7aa6 }
  }`;

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/**
 * @param {object} scenario its `plot` names a metric and cases
 * @returns the text of the picture, or undefined if there is nothing to show
 */
export function plot(scenario, results) {
  const { metric, cases, isLogarithmic } = scenario.plot;
  const { label, unit } = scenario.metrics[metric];
  const panels = cases
    .map((name) => ({ name, bars: barsOf(results, scenario.name, name, metric) }))
    .filter(({ bars }) => bars.length > 0);
  if (panels.length === 0) return undefined;
  const title = `${scenario.title}: ${label}, ${unit}${isLogarithmic ? ' (logarithmic)' : ''}`;
  const parts = [text(12, 24, title, 'head')];
  let y = 30;
  for (const { name, bars } of panels) {
    y += 22;
    parts.push(text(12, y, name, 'head'));
    const most = Math.max(...bars.map(({ figure }) => figure.max));
    const least = Math.min(...bars.map(({ figure }) => figure.min));
    const length = isLogarithmic ? logarithmic(least / 2, most) : (value) => (value / most) * BARS_WIDTH;
    y += 8;
    for (const { contender, figure } of bars) {
      parts.push(bar(y, contender, figure, length));
      y += BAR.height + BAR.gap;
    }
  }
  const height = y + 10;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title><style>${STYLE}\n</style>`,
    `<rect class="page" width="${WIDTH}" height="${height}" rx="8"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

const logarithmic = (from, to) => (value) =>
  Math.max(1, (Math.log(value / from) / Math.log(to / from)) * BARS_WIDTH);

function barsOf(results, scenario, kase, metric) {
  const contenders = Object.keys(results.scenarios[scenario]?.cases[kase] ?? {});
  return contenders
    .map((contender) => ({ contender, figure: figureIn(results, scenario, kase, contender, metric) }))
    .filter(({ figure }) => figure !== null)
    .toSorted((one, other) => one.figure.median - other.figure.median);
}

function text(x, y, content, kind = '') {
  return `<text x="${x}" y="${y}"${kind === '' ? '' : ` class="${kind}"`}>${escaped(content)}</text>`;
}

function bar(y, contender, { median, min, max }, length) {
  const middle = y + BAR.height / 2;
  const at = (value) => (LABEL_WIDTH + length(value)).toFixed(1);
  return [
    text(24, y + 13, LABELS[contender] ?? contender),
    `<rect class="${COLORS[contender] ?? 'peer'}" x="${LABEL_WIDTH}" y="${y}" width="${length(median).toFixed(1)}" height="${BAR.height}"/>`,
    `<path class="spread" d="M${at(min)} ${middle}H${at(max)}"/>`,
    text(Number(at(max)) + 6, y + 13, number(median)),
  ].join('');
}
