/**
 * A chart as a Markdown table: every transition of every state, what guards it, where it leads and what it does.
 */
import { allStates, shortId, transitionsOf, type ChartBranch } from './chart-lookup.js';
import type { ChartModel } from './chart-model.js';

const HEADER = ['State', 'Event', 'Guard', 'Target', 'Actions'];

/** One row a transition, in document order; branches of an event in the order they are tried. */
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
