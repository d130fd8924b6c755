/**
 * The states of a machine in rows that were chosen by hand, since a chart is read like a page and ELK does not know
 * what it is about. Lines within a row are straight and join neighbours; ELK leads the others around the boxes.
 */

const START_SPACE = 34;

const ARRANGED = {
  'elk.padding': `[top=${START_SPACE},left=0,bottom=0,right=0]`,
  'elk.partitioning.activate': 'true',
  'elk.spacing.nodeNode': '56',
  'elk.layered.crossingMinimization.forceNodeModelOrder': 'true',
  'elk.layered.nodePlacement.strategy': 'SIMPLE',
};

/** Row number by state id. Every state of the machine has to be in exactly one row, unless there are none. */
export function rowsByState(root, rows) {
  const rowOf = new Map(rows.flatMap((keys, row) => keys.map((key) => [`${root.id}.${key}`, row])));
  const astray =
    rows.length === 0 ? [] : root.states.filter(({ id }) => !rowOf.has(id)).map(({ key }) => key);
  const unknown = [...rowOf.keys()].filter((id) => root.states.every((state) => state.id !== id));
  if (astray.length + unknown.length > 0) {
    throw new Error(
      `The rows of '${root.key}' leave out [${astray.join()}] and name the unknown [${unknown.join()}].`,
    );
  }
  return rowOf;
}

/** What ELK needs to know about a box of a row. */
export function placeInRow(row) {
  return row === undefined ? {} : { 'elk.partitioning.partition': String(row + 1), 'elk.alignment': 'TOP' };
}

/**
 * Makes ELK keep the rows. Lines to the same box arrive at one port for each direction, so that they become one
 * line where they meet. A box that no line joins to another row is held in its own by one that is not drawn.
 */
export function keepRows(graph, rows, rowOf) {
  const order = rows.flat().map((key) => `${graph.id}.${key}`);
  graph.layoutOptions = { ...graph.layoutOptions, ...ARRANGED };
  graph.children.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
  const isJoined = (id) => graph.edges.some(({ sources, targets }) => sources[0] === id || targets[0] === id);
  const loose = graph.children.filter(({ id }) => rowOf.get(id) > 0 && !isJoined(id));
  const held = loose.map(({ id }) => {
    const above = `${graph.id}.${rows[rowOf.get(id) - 1].at(-1)}`;
    return { id: `${id}$hold`, isHidden: true, sources: [above], targets: [id] };
  });
  for (const child of graph.children) child.ports = [];
  const childOf = (id) => graph.children.find((child) => child.id === id);
  for (const drawn of graph.edges) {
    const [source] = drawn.sources;
    const [target] = drawn.targets;
    const direction = rowOf.get(source) < rowOf.get(target) ? 'down' : 'up';
    const arrival = `${target}$${direction}`;
    const { ports } = childOf(target);
    if (ports.every(({ id }) => id !== arrival)) ports.push({ id: arrival });
    drawn.targets = [arrival];
  }
  graph.edges.push(...held);
}

/** The dot at which the machine starts, and its line to the first box. */
export function startAbove({ id, x, y }) {
  const dot = { id: `${id}$start`, isStart: true, x: x + 20, y: y - START_SPACE, width: 10, height: 10 };
  const section = { startPoint: { x: x + 25, y: y - START_SPACE + 10 }, endPoint: { x: x + 25, y } };
  return { dot, line: { id: `${dot.id}>`, sections: [section] } };
}

/** Lines within a row run from side to side, just below the top of the boxes. */
export function straightLines(lines, boxes) {
  const taken = new Map();
  return lines.map((line) => {
    const [from, to] = [line.source, line.target].map((id) => boxes.find((box) => box.id === id));
    const pair = from.x < to.x ? `${from.id} ${to.id}` : `${to.id} ${from.id}`;
    const nth = taken.get(pair) ?? 0;
    taken.set(pair, nth + 1);
    const y = Math.max(from.y, to.y) + 16 + nth * 16;
    const isRightwards = from.x < to.x;
    const [start, end] = isRightwards ? [from.x + from.width, to.x] : [from.x, to.x + to.width];
    const isBlocked = boxes.some(
      (box) =>
        y > box.y &&
        y < box.y + box.height &&
        box.x > Math.min(start, end) &&
        box.x < Math.max(start, end) - 1,
    );
    if (isBlocked) throw new Error(`'${from.id}' and '${to.id}' are in one row but not neighbors.`);
    return {
      id: line.key,
      line,
      labels: [],
      sections: [{ startPoint: { x: start, y }, endPoint: { x: end, y } }],
    };
  });
}
