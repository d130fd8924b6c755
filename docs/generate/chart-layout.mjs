/**
 * Where the boxes, lines and labels of a chart go. Owns the sizes and the questions to ELK; does not draw.
 * Sizes are estimated, never measured, so that the same chart gives the same picture on every machine.
 */
import Elk from 'elkjs/lib/elk.bundled.js';
import { chartContent, wordsOf } from './chart-content.mjs';
import { keepRows, placeInRow, rowsByState, startAbove, straightLines } from './chart-rows.mjs';
import { textWidth } from '../../dist/src/charts/text-width.js';

export const SIZE = { title: 14, text: 12, row: 18, label: 16, pad: 14, titleBaseline: 21, firstRow: 41 };

const LAYERED = {
  'elk.algorithm': 'layered',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.hierarchyHandling': 'SEPARATE_CHILDREN',
  'elk.aspectRatio': '3',
  'elk.spacing.nodeNode': '28',
  'elk.spacing.edgeNode': '14',
  'elk.spacing.edgeEdge': '12',
  'elk.spacing.edgeLabel': '4',
  'elk.layered.spacing.nodeNodeBetweenLayers': '26',
  'elk.layered.spacing.edgeNodeBetweenLayers': '12',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '10',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.thoroughness': '60',
};

/**
 * @typedef {object} Arrangement
 * @property {readonly (readonly string[])[]} [rows] keys of the machine's states, row by row; every one exactly once
 * @property {readonly string[]} [acrossIn] short ids of the states whose children run from left to right
 */

/**
 * @param {import('mcp-troupe/charts').ChartModel} model
 * @param {Arrangement} arrangement
 */
export async function layoutChart(model, { rows = [], acrossIn = [] }) {
  const { root } = model;
  const rowOf = rowsByState(root, rows);
  const content = chartContent(model, { unlabelled: new Set(rows.length > 0 ? [root.id] : []) });
  const isWithinRow = ({ container, source, target }) =>
    rows.length > 0 && container === root.id && rowOf.get(source) === rowOf.get(target);

  function box(state) {
    const texts = content.rows.get(state.id);
    const columns = inColumns(texts, state.states.length > 0 && texts.length > 4 ? 2 : 1);
    const width = Math.max(textWidth(state.key, SIZE.title, true), columns.width) + SIZE.pad * 2;
    const height = SIZE.firstRow - 9 + columns.height;
    const base = { id: state.id, state, columns, layoutOptions: placeInRow(rowOf.get(state.id)) };
    if (state.states.length === 0) return { ...base, width, height };
    return {
      ...base,
      ...inside(state),
      layoutOptions: {
        ...LAYERED,
        ...base.layoutOptions,
        'elk.direction': acrossIn.some((id) => state.id === `${root.id}.${id}`) ? 'RIGHT' : 'DOWN',
        'elk.padding': `[top=${height + 8},left=16,bottom=16,right=16]`,
        'elk.nodeSize.constraints': 'MINIMUM_SIZE',
        'elk.nodeSize.minimum': `(${width},${height})`,
      },
    };
  }

  function inside(state) {
    const lines = content.lines.filter(({ container }) => container === state.id);
    const children = state.states.map(box);
    const edges = lines.filter((line) => !isWithinRow(line)).map(edge);
    if (state.initial === null || (state === root && rows.length > 0)) return { children, edges };
    const start = { id: `${state.id}$start`, isStart: true, width: 10, height: 10 };
    return {
      children: [start, ...children],
      edges: [{ id: `${start.id}>`, sources: [start.id], targets: [state.initial] }, ...edges],
    };
  }

  const graph = {
    ...inside(root),
    id: root.id,
    layoutOptions: {
      ...LAYERED,
      'elk.direction': 'DOWN',
      'elk.padding': '[top=0,left=0,bottom=0,right=0]',
      'elk.json.edgeCoords': 'ROOT',
      'elk.json.shapeCoords': 'ROOT',
    },
  };
  if (rows.length > 0) keepRows(graph, rows, rowOf);
  const { width, height, children, edges } = await new Elk().layout(graph);
  if (rows.length === 0) return { content, width, height, children, edges };
  const start = startAbove(children.find(({ id }) => id === root.initial));
  const across = straightLines(content.lines.filter(isWithinRow), children);
  return {
    content,
    width,
    height,
    children: [start.dot, ...children],
    edges: [start.line, ...edges, ...across],
  };
}

/** Texts side by side: filled from the top, one column after the other. */
export function inColumns(texts, count) {
  const perColumn = Math.ceil(texts.length / count);
  const columns = [];
  let width = 0;
  for (let start = 0; start < texts.length; start += perColumn) {
    const column = texts.slice(start, start + perColumn);
    const x = width === 0 ? 0 : width + 32;
    columns.push({ x, texts: column });
    width = x + Math.max(...column.map((spans) => textWidth(wordsOf(spans), SIZE.text)));
  }
  return { columns, width, height: texts.length === 0 ? 0 : perColumn * SIZE.row + 2 };
}

function edge(line) {
  const { key, source, target, labels } = line;
  const width = Math.max(...labels.map((spans) => textWidth(wordsOf(spans), SIZE.text))) + 14;
  const label = {
    text: key,
    width,
    height: labels.length * SIZE.label + 6,
    layoutOptions: { 'elk.edgeLabels.inline': 'true' },
  };
  return { id: key, line, sources: [source], targets: [target], labels: labels.length === 0 ? [] : [label] };
}
