/**
 * Draws what a terminal showed as an animated SVG: styles and keyframes, no script. Without animation, as for readers who
 * want no motion, it shows one moment.
 */

/**
 * @typedef {{ at: number, rows: readonly (readonly Run[])[] }} Frame `at` is in milliseconds
 * @typedef {{ column: number, text: string, look: string }} Run text in one look; `look` is a list of class names
 */

const CELL = { width: 8.4, height: 19 };
const PADDING = 16;
const FONT = `ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace`;
const LIGHT =
  '--page:#f6f8fa;--edge:#d0d7de;--text:#1f2328;--dim:#59636e;--red:#b3202c;--green:#116329;--yellow:#7d4e00';
const DARK =
  '--page:#0d1117;--edge:#30363d;--text:#e6edf3;--dim:#8d96a0;--red:#ff7b72;--green:#56d364;--yellow:#e3b341';

/**
 * @param {object} recording
 * @param {string} recording.title
 * @param {string} recording.description
 * @param {number} recording.columns
 * @param {readonly Frame[]} recording.frames all with the same number of rows
 * @param {number} recording.still which frame is shown without animation
 * @param {number} recording.durationMs of one round
 */
export function terminalSvg({ title, description, columns, frames, still, durationMs }) {
  const count = frames[0].rows.length;
  const stretches = Array.from({ length: count }, (_, row) => stretchesOf(frames, row)).flat();
  const width = Math.ceil(columns * CELL.width + 2 * PADDING);
  const height = count * CELL.height + 2 * PADDING;
  const percent = (at) => `${+((100 * (at - frames[0].at)) / durationMs).toFixed(2)}%`;
  const keyframes = [];
  const groups = stretches.map(({ row, runs, from, to }) => {
    const y = PADDING + (row + 0.75) * CELL.height;
    const texts = runs.map((run) => textOf(run, y)).join('');
    if (from === 0 && to === frames.length) return `<g>${texts}</g>`;
    const name = `k${keyframes.length}`;
    const end = to === frames.length ? '' : `${percent(frames[to].at)}{visibility:hidden}`;
    const begin = from === 0 ? '' : '0%{visibility:hidden}';
    keyframes.push(`@keyframes ${name}{${begin}${percent(frames[from].at)}{visibility:visible}${end}}`);
    const isStill = from <= still && still < to;
    return `<g class="${isStill ? 'part still' : 'part'}" style="animation-name:${name}">${texts}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">
<title id="title">${escaped(title)}</title>
<desc id="description">${escaped(description)}</desc>
<style>
svg{${LIGHT}}
@media (prefers-color-scheme:dark){svg{${DARK}}}
rect{fill:var(--page);stroke:var(--edge)}
text{fill:var(--text);font:14px ${FONT};white-space:pre}
.dim{fill:var(--dim)}.red{fill:var(--red)}.green{fill:var(--green)}.yellow{fill:var(--yellow)}.bold{font-weight:bold}
.part{visibility:hidden}.still{visibility:visible}
@media (prefers-reduced-motion:no-preference){.part{animation-duration:${durationMs}ms;animation-timing-function:step-end;animation-iteration-count:infinite}}
${keyframes.join('\n')}
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${groups.join('\n')}
</svg>
`;
}

/** How long a row showed the same: from one frame up to another. */
function stretchesOf(frames, row) {
  const stretches = [];
  for (const [index, { rows }] of frames.entries()) {
    const key = JSON.stringify(rows[row]);
    const last = stretches.at(-1);
    if (last?.key === key) last.to = index + 1;
    else stretches.push({ key, row, runs: rows[row], from: index, to: index + 1 });
  }
  return stretches.filter(({ runs }) => runs.length > 0);
}

/** As wide as its cells are, whichever font the reader has. */
function textOf({ column, text, look }, y) {
  const x = +(PADDING + column * CELL.width).toFixed(1);
  const length = +(text.length * CELL.width).toFixed(1);
  const style = look === '' ? '' : ` class="${look}"`;
  return `<text x="${x}" y="${y}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${style}>${escaped(text)}</text>`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
