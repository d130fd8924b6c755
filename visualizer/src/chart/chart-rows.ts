/**
 * Places the states of a machine in rows that were chosen by hand, because a chart is read like a page and ELK does not
 * know its meaning. Lines within a row are straight and join neighbours; ELK routes the others around the boxes.
 */
import type { ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js';
import type { ChartState } from '../../../src/charts/chart-model.js';
import type { ChartLine } from './chart-content.js';

const START_SPACE = 34;

const ARRANGED = {
  'elk.padding': `[top=${START_SPACE},left=0,bottom=0,right=0]`,
  'elk.partitioning.activate': 'true',
  'elk.spacing.nodeNode': '56',
  'elk.layered.crossingMinimization.forceNodeModelOrder': 'true',
  'elk.layered.nodePlacement.strategy': 'SIMPLE',
};

type Rows = readonly (readonly string[])[];
type Graph = ElkNode & { children: ElkNode[]; edges: ElkExtendedEdge[] };

/** Row number by state id. */
export function rowsByState(root: ChartState, rows: Rows): ReadonlyMap<string, number> {
  return new Map(rows.flatMap((keys, row) => keys.map((key) => [`${root.id}.${key}`, row] as const)));
}

/** The options for ELK about a box in a row. */
export function placeInRow(row: number | undefined): Record<string, string> {
  return row === undefined ? {} : { 'elk.partitioning.partition': String(row + 1), 'elk.alignment': 'TOP' };
}

/**
 * Makes ELK keep the rows. Lines to the same box arrive at one port for each direction, so that they merge. A box
 * without a line to another row is kept in its own by an invisible line.
 */
export function keepRows(graph: Graph, rows: Rows, rowOf: ReadonlyMap<string, number>): void {
  const order = rows.flat().map((key) => `${graph.id}.${key}`);
  const numberOf = (id: string | undefined): number => rowOf.get(id ?? '') ?? 0;
  graph.layoutOptions = { ...graph.layoutOptions, ...ARRANGED };
  graph.children.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
  const isJoined = (id: string): boolean =>
    graph.edges.some(({ sources, targets }) => sources[0] === id || targets[0] === id);
  const loose = graph.children.filter(({ id }) => numberOf(id) > 0 && !isJoined(id));
  const held = loose.map(({ id }) => {
    const above = `${graph.id}.${rows[numberOf(id) - 1]?.at(-1) ?? ''}`;
    return { id: `${id}$hold`, sources: [above], targets: [id] };
  });
  for (const child of graph.children) child.ports = [];
  for (const drawn of graph.edges) {
    const [source] = drawn.sources;
    const [target = ''] = drawn.targets;
    const direction = numberOf(source) < numberOf(target) ? 'down' : 'up';
    const arrival = `${target}$${direction}`;
    const ports = graph.children.find(({ id }) => id === target)?.ports ?? [];
    if (ports.every(({ id }) => id !== arrival)) ports.push({ id: arrival });
    drawn.targets = [arrival];
  }
  graph.edges.push(...held);
}

/** The line from the initial dot of the machine to the first box. */
export function startAbove(box: ElkNode | undefined): ElkExtendedEdge | undefined {
  if (box === undefined) return undefined;
  const { id, x = 0, y = 0 } = box;
  const section = {
    id: `${id}$start>0`,
    startPoint: { x: x + 25, y: y - START_SPACE + 10 },
    endPoint: { x: x + 25, y },
  };
  return { id: `${id}$start>`, sources: [], targets: [], sections: [section] };
}

/** Lines within a row run from side to side, just below the top of the boxes. */
export function straightLines(lines: readonly ChartLine[], boxes: readonly ElkNode[]): ElkExtendedEdge[] {
  const taken = new Map<string, number>();
  return lines.flatMap((line) => {
    const from = boxes.find(({ id }) => id === line.source);
    const to = boxes.find(({ id }) => id === line.target);
    if (from === undefined || to === undefined) return [];
    const [a, b] = [placeOf(from), placeOf(to)];
    const isRightwards = a.x < b.x;
    const pair = isRightwards ? `${from.id} ${to.id}` : `${to.id} ${from.id}`;
    const nth = taken.get(pair) ?? 0;
    taken.set(pair, nth + 1);
    const y = Math.max(a.y, b.y) + 16 + nth * 16;
    const [start, end] = isRightwards ? [a.x + a.width, b.x] : [a.x, b.x + b.width];
    const section = { id: `${line.key}0`, startPoint: { x: start, y }, endPoint: { x: end, y } };
    return [{ id: line.key, sources: [], targets: [], labels: [], sections: [section] }];
  });
}

function placeOf({ x = 0, y = 0, width = 0 }: ElkNode): { x: number; y: number; width: number } {
  return { x, y, width };
}
