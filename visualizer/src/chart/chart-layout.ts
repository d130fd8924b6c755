/**
 * Places the boxes, lines and labels of a chart. Owns the sizes and the input of ELK; does not draw. Boxes are as wide as
 * their texts in the fonts of the browser.
 */
import type { ElkExtendedEdge, ElkNode, ElkPoint } from 'elkjs/lib/elk-api.js';
import type { ChartModel, ChartState } from '../../../src/charts/chart-model.js';
import type { Arrangement } from './arrangements.js';
import { chartContent, wordsOf, type ChartContent, type ChartLine, type ChartText } from './chart-content.js';
import { keepRows, placeInRow, rowsByState, startAbove, straightLines } from './chart-rows.js';
import type { Names } from '../words/names.js';

export const SIZE = { title: 14, text: 12, row: 18, label: 16, pad: 14, titleBaseline: 21, firstRow: 41 };

/** Space beside a title for the number of visits. */
const VISITS = 44;

export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PlacedBox extends Rect {
  readonly state: ChartState;
  readonly title: string;
  readonly columns: readonly TextColumn[];
  /** 0 for a state of the machine. */
  readonly depth: number;
  readonly isRegion: boolean;
}

export interface PlacedLine {
  readonly id: string;
  readonly line: ChartLine | undefined;
  readonly paths: readonly (readonly ElkPoint[])[];
  readonly labels: readonly Rect[];
}

export interface PlacedChart {
  readonly model: ChartModel;
  readonly names: Names;
  readonly content: ChartContent;
  readonly width: number;
  readonly height: number;
  /** Parents before children. */
  readonly boxes: readonly PlacedBox[];
  readonly starts: readonly ElkPoint[];
  readonly lines: readonly PlacedLine[];
  /** Rows that apply in every state. */
  readonly everywhere: readonly TextColumn[];
}

export interface TextColumn {
  readonly x: number;
  readonly texts: readonly ChartText[];
}

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
  'elk.layered.thoroughness': '10',
};

/** Space above the picture for rows that apply in every state. */
const HEADER_TITLE = 34;

export type Layout = (graph: ElkNode) => Promise<ElkNode>;

/** How the texts of a chart are written. */
export interface Writing {
  readonly names: Names;
  /** Width of bold text in pixels: a text becomes bold if its transition is possible or was taken. */
  readonly boldWidth: (text: string, size: number) => number;
}

export async function layoutChart(
  model: ChartModel,
  { rows, acrossIn }: Arrangement,
  layout: Layout,
  writing: Writing,
): Promise<PlacedChart> {
  const { root } = model;
  const { names } = writing;
  const rowOf = rowsByState(root, rows);
  const hasRows = rows.length > 0;
  const content = chartContent(model, new Set(hasRows ? [root.id] : []), names);
  const isWithinRow = ({ container, source, target }: ChartLine): boolean =>
    hasRows && container === root.id && rowOf.get(source) === rowOf.get(target);

  function box(state: ChartState): ElkNode {
    const { width, height } = sizeOf(state, content, writing);
    const placed = { id: state.id, layoutOptions: placeInRow(rowOf.get(state.id)) };
    if (state.states.length === 0) return { ...placed, width, height };
    const isAcross = acrossIn.some((key) => state.id === `${root.id}.${key}`);
    return {
      ...placed,
      ...inside(state),
      layoutOptions: {
        ...LAYERED,
        ...placed.layoutOptions,
        'elk.direction': isAcross ? 'RIGHT' : 'DOWN',
        'elk.padding': `[top=${height + 8},left=16,bottom=16,right=16]`,
        'elk.nodeSize.constraints': 'MINIMUM_SIZE',
        'elk.nodeSize.minimum': `(${width},${height})`,
      },
    };
  }

  function inside(state: ChartState): { children: ElkNode[]; edges: ElkExtendedEdge[] } {
    const lines = content.lines.filter(({ container }) => container === state.id);
    const children = state.states.map(box);
    const edges = lines.filter((line) => !isWithinRow(line)).map((line) => edgeOf(line, writing));
    if (state.initial === null || (state === root && hasRows)) return { children, edges };
    const start = { id: `${state.id}$start`, width: 10, height: 10 };
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
  if (hasRows) keepRows(graph, rows, rowOf);
  const placed = await layout(graph);
  const across = hasRows ? straightLines(content.lines.filter(isWithinRow), placed.children ?? []) : [];
  const start = hasRows
    ? startAbove((placed.children ?? []).find(({ id }) => id === root.initial))
    : undefined;
  return moved({ model, content, writing }, placed, [...across, ...(start === undefined ? [] : [start])]);
}

function sizeOf(
  state: ChartState,
  content: ChartContent,
  writing: Writing,
): { width: number; height: number; columns: TextColumn[] } {
  const texts = content.rows.get(state.id) ?? [];
  const title = writing.boldWidth(writing.names.state(state), SIZE.title);
  const columns = inColumns(texts, state.states.length > 0 && texts.length > 4 ? 2 : 1, writing);
  return {
    columns: columns.columns,
    width: Math.max(title + VISITS, columns.width) + SIZE.pad * 2,
    height: SIZE.firstRow - 9 + columns.height,
  };
}

/** Converts to the coordinates of the whole picture, which begins with the rows that apply in every state. */
function moved(
  { model, content, writing }: Pick<PlacedChart, 'model' | 'content'> & { readonly writing: Writing },
  placed: ElkNode,
  extra: readonly ElkExtendedEdge[],
): PlacedChart {
  const everywhere = content.rows.get(model.root.id) ?? [];
  const header = inColumns(
    everywhere,
    Math.min(everywhere.length, (placed.width ?? 0) > 900 ? 3 : 1),
    writing,
  );
  const { names } = writing;
  const top = everywhere.length === 0 ? 0 : HEADER_TITLE + header.height + 8;
  const lineOf = new Map(content.lines.map((line) => [line.key, line]));
  const nodes = allNodes(placed).filter(({ node }) => node !== placed);
  const edges = [...nodes.flatMap(({ node }) => node.edges ?? []), ...(placed.edges ?? []), ...extra];
  const rect = ({ x = 0, y = 0, width = 0, height = 0 }): Rect => ({ x, y: y + top, width, height });
  const isStart = (id: string): boolean => id.endsWith('$start');
  const starts = nodes.filter(({ node }) => isStart(node.id)).map(({ node }) => middle(rect(node)));
  const startLine = extra.find(({ id }) => id.endsWith('$start>'))?.sections?.[0]?.startPoint;
  return {
    model,
    content,
    names,
    width: Math.max(placed.width ?? 0, header.width),
    height: top + (placed.height ?? 0),
    boxes: nodes.flatMap(({ node, depth }) => {
      const state = content.states.get(node.id);
      if (state === undefined) return [];
      const isRegion = nodes.some(
        ({ node: parent }) =>
          content.states.get(parent.id)?.type === 'parallel' && (parent.children ?? []).includes(node),
      );
      const { columns } = sizeOf(state, content, writing);
      return [{ ...rect(node), state, title: names.state(state), columns, depth: depth - 1, isRegion }];
    }),
    starts: startLine === undefined ? starts : [...starts, { x: startLine.x, y: startLine.y + top - 5 }],
    lines: edges
      .filter(({ id }) => !id.endsWith('$hold'))
      .map((edge) => ({
        id: edge.id,
        line: lineOf.get(edge.id),
        labels: (edge.labels ?? []).map(rect),
        paths: (edge.sections ?? []).map(({ startPoint, bendPoints = [], endPoint }) =>
          [startPoint, ...bendPoints, endPoint].map(({ x, y }) => ({ x, y: y + top })),
        ),
      })),
    everywhere: header.columns,
  };
}

function allNodes(node: ElkNode, depth = 0): { node: ElkNode; depth: number }[] {
  return [{ node, depth }, ...(node.children ?? []).flatMap((child) => allNodes(child, depth + 1))];
}

const middle = ({ x, y, width, height }: Rect): ElkPoint => ({ x: x + width / 2, y: y + height / 2 });

const widthOf = (text: ChartText, { boldWidth }: Writing): number => boldWidth(wordsOf(text), SIZE.text);

/** Texts in columns, filled from the top, one column after the other. */
function inColumns(
  texts: readonly ChartText[],
  count: number,
  writing: Writing,
): { columns: TextColumn[]; width: number; height: number } {
  const perColumn = Math.ceil(texts.length / count);
  const columns: TextColumn[] = [];
  let width = 0;
  for (let start = 0; start < texts.length; start += perColumn) {
    const column = texts.slice(start, start + perColumn);
    const x = width === 0 ? 0 : width + 32;
    columns.push({ x, texts: column });
    width = x + Math.max(...column.map((text) => widthOf(text, writing)));
  }
  return { columns, width, height: texts.length === 0 ? 0 : perColumn * SIZE.row + 2 };
}

function edgeOf({ key, source, target, labels }: ChartLine, writing: Writing): ElkExtendedEdge {
  const width = Math.max(...labels.map((text) => widthOf(text, writing))) + 14;
  const label = {
    text: key,
    width,
    height: labels.length * SIZE.label + 6,
    layoutOptions: { 'elk.edgeLabels.inline': 'true' },
  };
  return { id: key, sources: [source], targets: [target], labels: labels.length === 0 ? [] : [label] };
}
