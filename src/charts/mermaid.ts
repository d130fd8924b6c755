/**
 * A chart as a Mermaid state diagram: the overview for a page that renders Mermaid. Shows states and the events
 * that lead from one to another; what runs on the way is in the transition table.
 */
import { allStates, chartArrows } from './chart-lookup.js';
import type { ChartEdge, ChartModel, ChartState } from './chart-model.js';

const ANYWHERE = 'any_state';

/**
 * Draws the chart as a Mermaid `stateDiagram-v2` (Mermaid 11). Transitions of the machine itself start at a
 * box called "any state".
 *
 * @param model The chart, from `chartModel`.
 *
 * @example
 * ```ts
 * import { connectionMachine } from 'mcp-troupe/machines';
 * import { chartModel, toMermaid } from 'mcp-troupe/charts';
 *
 * console.log(toMermaid(chartModel(connectionMachine)));
 * ```
 */
export function toMermaid(model: ChartModel): string {
  const idOf = mermaidIds(model);
  const lines = ['stateDiagram-v2'];
  const write = (depth: number, line: string): number => lines.push('  '.repeat(depth) + line);

  function writeState(state: ChartState, depth: number): void {
    write(
      depth,
      `state "${escapeText(titleOf(state))}" as ${idOf(state.id)}${state.states.length > 0 ? ' {' : ''}`,
    );
    if (state.states.length > 0) {
      writeChildren(state, depth + 1);
      write(depth, '}');
    }
    if (state.type === 'final') write(depth, `${idOf(state.id)} --> [*]`);
  }

  function writeChildren(parent: ChartState, depth: number): void {
    if (parent.initial !== null) write(depth, `[*] --> ${idOf(parent.initial)}`);
    parent.states.forEach((child, index) => {
      if (parent.type === 'parallel' && index > 0) write(depth, '--');
      writeState(child, depth);
    });
  }

  writeChildren(model.root, 1);
  if (model.edges.some((edge) => edge.source === model.root.id)) write(1, `state "any state" as ${ANYWHERE}`);
  for (const { source, target, edges } of chartArrows(model)) {
    const from = source === model.root.id ? ANYWHERE : idOf(source);
    write(1, `${from} --> ${idOf(target)} : ${edges.map(labelOf).join('<br/>')}`);
  }
  return lines.join('\n') + '\n';
}

function titleOf(state: ChartState): string {
  return state.type === 'history' ? `${state.key} (${state.history ?? 'shallow'} history)` : state.key;
}

function labelOf(edge: ChartEdge): string {
  return escapeText(edge.guard === null ? edge.text : `${edge.text} [${edge.guard}]`);
}

/** Mermaid ends a label at `:` and `;` and takes `#` for an entity; quotes and angle brackets are markup. */
function escapeText(text: string): string {
  return text.replace(/[:;#"<>{}]/g, (character) => `#${character.charCodeAt(0)};`);
}

/** Ids of letters, digits and `_` only, each used once. */
function mermaidIds(model: ChartModel): (stateId: string) => string {
  const taken = new Set([ANYWHERE]);
  const ids = new Map<string, string>();
  for (const { id } of allStates(model)) {
    const plain = `s_${id.replace(/[^A-Za-z0-9]+/g, '_')}`;
    let unique = plain;
    for (let n = 2; taken.has(unique); n += 1) unique = `${plain}_${n}`;
    taken.add(unique);
    ids.set(id, unique);
  }
  return (stateId) => ids.get(stateId) ?? ANYWHERE;
}
