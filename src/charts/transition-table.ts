/** A chart as a Markdown table: every transition with its guard, target and actions. */
import { allStates, shortId, transitionsOf, type ChartBranch } from './chart-lookup.js';
import type { ChartModel } from './chart-model.js';

const HEADER = ['State', 'Event', 'Guard', 'Target', 'Actions'];

/**
 * Writes the chart as a Markdown table with one row for each transition, in document order. The branches of
 * an event stand in the order in which they are tried.
 *
 * @param model The chart, from `chartModel`.
 *
 * @example
 * ```ts
 * import { connectionMachine } from 'mcp-troupe/machines';
 * import { chartModel, toTransitionTable } from 'mcp-troupe/charts';
 *
 * console.log(toTransitionTable(chartModel(connectionMachine)));
 * ```
 */
export function toTransitionTable(model: ChartModel): string {
  const rows = allStates(model).flatMap((state) =>
    transitionsOf(model, state).map((transition) => cellsOf(model, transition)),
  );
  return [HEADER, HEADER.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function cellsOf(model: ChartModel, transition: ChartBranch): string[] {
  const { source, text, guard, targets, reenter, actions, description } = transition;
  const names = targets.map((target) => code(shortId(model, target)));
  return [
    source === model.root.id ? 'any' : code(shortId(model, source)),
    description === null ? code(text) : `${code(text)}<br>${plain(description)}`,
    guard === null ? '' : code(guard),
    reenter && names.length > 0 ? `${names.join(', ')} (re-entered)` : names.join(', '),
    actions.map(code).join(', '),
  ];
}

function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

function plain(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s+/g, ' ');
}
