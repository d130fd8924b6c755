/**
 * What a picture of a chart says: the rows in each box and the lines between boxes. Knows nothing of coordinates.
 *
 * 1. Every transition that does something is either a label on a line between neighbours or a row in its own box.
 * 2. A line joins two children of the same box. A transition that crosses the borders of boxes becomes a row, and
 *    a line without a label joins the two boxes on the way.
 *
 * A text is a list of `[class, words]` spans.
 */
import { allStates, shortId, transitionsOf } from 'mcp-troupe/charts';

/**
 * @param {import('mcp-troupe/charts').ChartModel} model
 * @param {{ unlabelled: ReadonlySet<string> }} options ids of the boxes whose lines get no label
 */
export function chartContent(model, { unlabelled }) {
  const states = allStates(model);
  const byId = new Map(states.map((state) => [state.id, state]));
  const lineage = lineages(model.root);
  const rows = new Map(
    states.map(({ id, invokes }) => [
      id,
      invokes.map(({ src }) => [
        ['muted', 'runs '],
        ['plain', src],
      ]),
    ]),
  );
  const lines = new Map();

  for (const state of states) {
    for (const transition of transitionsOf(model, state)) {
      const event = eventSpans(state, transition);
      const inBox = rows.get(state.id);
      if (transition.targets.length === 0 && transition.actions.length > 0) {
        inBox.push([...event, ['muted', ` / ${transition.actions.join(', ')}`]]);
      }
      for (const target of transition.targets) {
        const line = lineBetween(lineage.get(state.id), lineage.get(target));
        const joinsNeighbours = line !== null && line.source === state.id && line.target === target;
        const isLabel = joinsNeighbours && !unlabelled.has(line.container);
        if (!isLabel) inBox.push([...event, ...targetSpans(state.id, target)]);
        if (line === null) continue;
        const key = `${line.source}>${line.target}`;
        if (!lines.has(key)) lines.set(key, { ...line, key, labels: [] });
        if (isLabel) lines.get(key).labels.push(event);
      }
    }
  }

  function targetSpans(source, target) {
    if (source === target) return [['muted', ' ↺']];
    const { key } = byId.get(target);
    const isUnique = states.filter((state) => state.key === key).length === 1;
    return [
      ['muted', ' → '],
      [`to ${topOf(target)}`, isUnique ? key : shortId(model, target)],
    ];
  }

  /** Key of the large box that a state is in. */
  function topOf(id) {
    return byId.get(lineage.get(id)[1] ?? id).key;
  }

  return { states: byId, rows, lines: [...lines.values()], topOf };
}

/** The words of a text without their classes. */
export function wordsOf(spans) {
  return spans.map(([, words]) => words).join('');
}

/** Where one actor runs, its end needs no name. */
function eventSpans(state, { kind, text, guard }) {
  const isOnlyActor = state.invokes.length === 1 && (kind === 'done' || kind === 'error');
  const event = [kind, isOnlyActor ? kind : text];
  return guard === null ? [event] : [event, ['muted', ` [${guard}]`]];
}

/** Ids from the root down to each state, itself included. */
function lineages(root) {
  const found = new Map();
  const visit = (state, above) => {
    found.set(state.id, [...above, state.id]);
    state.states.forEach((child) => visit(child, [...above, state.id]));
  };
  visit(root, []);
  return found;
}

/** The two neighbours that a line has to join, or null where one state is inside the other. */
function lineBetween(from, to) {
  const depth = from.findIndex((id, index) => id !== to[index]);
  if (depth <= 0 || to[depth] === undefined) return null;
  return { container: from[depth - 1], source: from[depth], target: to[depth] };
}
