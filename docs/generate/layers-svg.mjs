/**
 * docs/explanation/layers.svg: the rooms of the sources, each above those that it imports from. A room is a folder of
 * `src/`, a file beside these folders, or `machines/`. A line that a way over other rooms stands for is left out. The
 * same imports give the same bytes.
 */
import Elk from 'elkjs/lib/elk.bundled.js';
import { escape, place, point, round, size, THEMES } from './svg.mjs';

const MARGIN = 16;
const BOX = { width: 116, height: 28 };

const LAYOUT = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.spacing.nodeNode': '18',
  'elk.spacing.edgeNode': '12',
  'elk.spacing.edgeEdge': '8',
  'elk.layered.spacing.nodeNodeBetweenLayers': '18',
  'elk.layered.spacing.edgeNodeBetweenLayers': '8',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '7',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
};

/** @param {import('../../tools/import-graph.mjs').ImportGraph} graph of `src` and `machines` */
export async function layersSvg(graph) {
  const below = roomsBelow(graph);
  const rooms = [...below.keys()].toSorted();
  const lines = rooms.flatMap((room) => directlyBelow(below, room).map((other) => [room, other]));
  const drawing = await new Elk().layout({
    id: 'layers',
    layoutOptions: LAYOUT,
    children: rooms.map((room) => ({ id: room, ...BOX })),
    edges: lines.map(([from, to]) => ({ id: `${from} ${to}`, sources: [from], targets: [to] })),
  });
  const [width, height] = [drawing.width + 2 * MARGIN, drawing.height + 2 * MARGIN];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title" ${size(width, height)}>`,
    '<title id="title">The layers: each room imports only from rooms below it</title>',
    '<style>',
    'text{font:600 12px Inter,"Segoe UI",system-ui,Helvetica,Arial,sans-serif;text-anchor:middle}',
    '.line{fill:none;stroke-width:1.2}.box{stroke-width:1.2}.file{stroke-dasharray:4 3}',
    colors(THEMES.light),
    `@media (prefers-color-scheme:dark){${colors(THEMES.dark)}}`,
    '</style>',
    `<rect class="page" ${place({ x: 0, y: 0, width, height })} rx="12"/>`,
    `<g transform="translate(${MARGIN} ${MARGIN})">`,
    ...drawing.edges.flatMap(({ sections }) => sections.map(lineShape)),
    ...drawing.children.flatMap(boxShapes),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** By room, the rooms that it imports from, types included. */
function roomsBelow(graph) {
  const below = new Map();
  for (const [path, imports] of graph) {
    const room = roomOf(path);
    const others = imports
      .filter(({ specifier }) => graph.has(specifier))
      .map(({ specifier }) => roomOf(specifier));
    const known = below.get(room) ?? new Set();
    for (const other of others) if (other !== room) known.add(other);
    below.set(room, known);
  }
  return below;
}

function roomOf(path) {
  const [top, room] = path.split('/');
  return top === 'machines' ? top : room;
}

/** The rooms to which no way over another one leads. */
function directlyBelow(below, room) {
  const others = [...below.get(room)];
  const further = new Set(others.flatMap((other) => [...allBelow(below, other)]));
  return others.filter((other) => !further.has(other)).toSorted();
}

function allBelow(below, room) {
  const found = new Set(below.get(room));
  for (const one of found) for (const other of below.get(one)) found.add(other);
  return found;
}

function lineShape({ startPoint, bendPoints = [], endPoint }) {
  return `<path class="line" d="M${[startPoint, ...bendPoints, endPoint].map(point).join(' L')}"/>`;
}

function boxShapes({ id, x, y, width, height }) {
  const classes = id.endsWith('.ts') ? 'box file' : 'box';
  return [
    `<rect class="${classes}" ${place({ x, y, width, height })} rx="6"/>`,
    `<text x="${round(x + width / 2)}" y="${round(y + height / 2 + 4)}">${escape(id)}</text>`,
  ];
}

function colors({ page, box, border, ink, line }) {
  return `.page{fill:${page}}.box{fill:${box};stroke:${border}}text{fill:${ink}}.line{stroke:${line}}`;
}
