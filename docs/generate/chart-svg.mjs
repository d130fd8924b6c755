/**
 * A chart as a picture: one SVG without scripts or outside references, for light and dark pages. The same chart
 * gives the same bytes.
 */
import { inColumns, layoutChart, SIZE } from './chart-layout.mjs';
import { escape, place, point, round, size, THEMES } from './svg.mjs';

const MARGIN = 20;
const HEADER_TITLE = 34;
const FOOTER = 30;

const TONES = ['work', 'good', 'warn', 'bad', 'rest'];

/**
 * @typedef {import('./chart-layout.mjs').Arrangement & { tones?: Readonly<Record<string, string>> }} Style
 * `tones` gives the key of a state of the machine one of the tones `work`, `good`, `warn`, `bad`, `rest`.
 *
 * @param {import('mcp-troupe/charts').ChartModel} model
 * @param {Style} [style]
 * @returns {Promise<string>}
 */
export async function chartSvg(model, style = {}) {
  const chart = await layoutChart(model, style);
  const toneOf = (key) => style.tones?.[key] ?? 'plain';
  const { content } = chart;
  const everywhere = content.rows.get(model.root.id);
  const columns = inColumns(everywhere, Math.min(everywhere.length, chart.width > 900 ? 3 : 1));
  const width = Math.max(chart.width, columns.width);
  const headerHeight = HEADER_TITLE + columns.height;
  const height = headerHeight + chart.height + FOOTER;
  const draw = { toneOf, content };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title" ${size(width + 2 * MARGIN, height + 2 * MARGIN)}>`,
    `<title id="title">The ${escape(model.root.key)} machine</title>`,
    styleSheet(),
    arrowHeads(),
    `<rect class="page" ${place({ x: 0, y: 0, width: width + 2 * MARGIN, height: height + 2 * MARGIN })} rx="12"/>`,
    `<g transform="translate(${MARGIN} ${MARGIN})">`,
    text(0, 14, [
      ['heading', model.root.key],
      ['muted', everywhere.length > 0 ? '   in every state:' : ''],
    ]),
    ...rowTexts(columns, 0, HEADER_TITLE + 2, draw),
    `<g transform="translate(0 ${headerHeight})">`,
    ...chart.children.flatMap((child) => boxShapes(child, null, draw)),
    ...allEdges(chart).map((edge) => lineShape(edge, draw)),
    ...allEdges(chart).flatMap((edge) => labelShapes(edge, draw)),
    '</g>',
    text(0, height - 2, legend(content)),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

function legend(content) {
  const hasUnlabelled = content.lines.some(({ labels }) => labels.length === 0);
  const words = [
    'runs: an actor that the state invokes',
    '[guard]',
    '/ action',
    '→ target',
    '↺ enters itself again',
  ];
  if (hasUnlabelled) words.push('line without a label: the rows that name its target');
  return [['muted', words.join('     ')]];
}

function boxShapes(box, parent, draw) {
  if (box.isStart) {
    return [`<circle class="start" cx="${round(box.x + 5)}" cy="${round(box.y + 5)}" r="5"/>`];
  }
  const { state, columns } = box;
  const isRegion = parent?.type === 'parallel';
  const tone = parent === null ? draw.toneOf(state.key) : 'plain';
  const classes = ['box', parent === null ? 'outer' : '', isRegion ? 'region' : '', tone].filter(
    (name) => name !== '',
  );
  const inset = { x: box.x + 3, y: box.y + 3, width: box.width - 6, height: box.height - 6 };
  return [
    '<g>',
    ...(state.description === null ? [] : [`<title>${escape(state.description)}</title>`]),
    `<rect class="${classes.join(' ')}" ${place(box)} rx="8"/>`,
    ...(state.type === 'final' ? [`<rect class="final" ${place(inset)} rx="6"/>`] : []),
    text(box.x + SIZE.pad, box.y + SIZE.titleBaseline, [[`name ${tone}`, state.key]]),
    ...rowTexts(columns, box.x + SIZE.pad, box.y + SIZE.firstRow, draw),
    ...(box.children ?? []).flatMap((child) => boxShapes(child, state, draw)),
    '</g>',
  ];
}

function rowTexts({ columns }, x, y, draw) {
  return columns.flatMap((column) =>
    column.texts.map((spans, index) => text(x + column.x, y + index * SIZE.row, toned(spans, draw))),
  );
}

/** Gives the name of a target the tone of the box that it is in. */
function toned(spans, { toneOf }) {
  return spans.map(([name, words]) =>
    name.startsWith('to ') ? [`to ${toneOf(name.slice(3))}`, words] : [name, words],
  );
}

function lineShape(edge, { toneOf, content }) {
  const tone =
    edge.line === undefined || edge.line.labels.length > 0
      ? 'plain'
      : toneOf(content.topOf(edge.line.target));
  return edge.sections
    .map(({ startPoint, bendPoints = [], endPoint }) => [startPoint, ...bendPoints, endPoint])
    .map((points) => `<path class="line ${tone}" marker-end="url(#${tone})" d="${roundedPath(points)}"/>`)
    .join('\n');
}

function labelShapes({ line, labels = [] }) {
  return labels.flatMap((label) => [
    `<rect class="label" ${place(label)} rx="6"/>`,
    ...line.labels.map((spans, index) => text(label.x + 7, label.y + 15 + index * SIZE.label, spans)),
  ]);
}

function allEdges({ edges = [], children = [] }) {
  return [...edges.filter(({ isHidden }) => isHidden !== true), ...children.flatMap(allEdges)];
}

function roundedPath(points) {
  const steps = points.slice(1).map((corner, index) => {
    const before = points[index];
    const after = points[index + 2];
    if (after === undefined) return `L${point(corner)}`;
    const radius = Math.min(6, distance(before, corner) / 2, distance(corner, after) / 2);
    return `L${point(towards(corner, before, radius))} Q${point(corner)} ${point(towards(corner, after, radius))}`;
  });
  return `M${point(points[0])} ${steps.join(' ')}`;
}

function distance(a, b) {
  return Math.hypot(b.x - a.x, b.y - a.y);
}

function towards(from, to, length) {
  const share = length / (distance(from, to) || 1);
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

function arrowHeads() {
  const heads = ['plain', ...TONES].map(
    (tone) =>
      `<marker id="${tone}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path class="head ${tone}" d="M0 0 L8 4 L0 8 z"/></marker>`,
  );
  return `<defs>\n${heads.join('\n')}\n</defs>`;
}

function styleSheet() {
  return [
    '<style>',
    'text{font-family:Inter,"Segoe UI",system-ui,Helvetica,Arial,sans-serif;white-space:pre}',
    `text{font-size:${SIZE.text}px}.name{font-size:${SIZE.title}px;font-weight:600}.heading{font-size:16px;font-weight:700}`,
    '.line{fill:none;stroke-width:1.4}.box,.label,.final{stroke-width:1.2}.outer{stroke-width:1.6}.region{stroke-dasharray:5 4}',
    colors(THEMES.light),
    `@media (prefers-color-scheme:dark){${colors(THEMES.dark)}}`,
    '</style>',
  ].join('\n');
}

function colors(theme) {
  return [
    `.page{fill:${theme.page}}text{fill:${theme.ink}}.muted{fill:${theme.muted}}.start,.head{fill:${theme.line}}`,
    `.box{fill:${theme.box};stroke:${theme.border}}.outer{fill:${theme.inner}}.region{fill:none}`,
    `.final{fill:none;stroke:${theme.border}}.label{fill:${theme.inner};stroke:${theme.border}}.line{stroke:${theme.line}}`,
    ...['done', 'error', 'after'].map((kind) => `.${kind}{fill:${theme[kind]}}`),
    ...TONES.map((tone) => `.name.${tone},.to.${tone},.head.${tone}{fill:${theme[tone]}}`),
    ...TONES.map((tone) => `.line.${tone},.outer.${tone}{stroke:${theme[tone]}}`),
  ].join('');
}

function text(x, y, spans) {
  const parts = spans.map(([name, words]) => `<tspan class="${name}">${escape(words)}</tspan>`);
  return `<text x="${round(x)}" y="${round(y)}">${parts.join('')}</text>`;
}
