/**
 * A chart as SCXML (W3C Recommendation, 1 September 2015), for tools that read it.
 *
 * Structure, events, delays and invokes are exact. Guards are written as `cond` and actions as `<log>` with their
 * names, since their code is not part of a chart. The machine itself is the outermost `<state>`.
 */
import { delayOf } from './chart-labels.js';
import { transitionsOf, type ChartBranch } from './chart-lookup.js';
import type { ChartModel, ChartState } from './chart-model.js';

/**
 * Writes the chart as a well-formed SCXML document, one element a line.
 *
 * @param model The chart, from `chartModel`.
 *
 * @example
 * ```ts
 * import { connectionMachine } from 'mcp-troupe/machines';
 * import { chartModel, toScxml } from 'mcp-troupe/charts';
 *
 * console.log(toScxml(chartModel(connectionMachine)));
 * ```
 */
export function toScxml(model: ChartModel): string {
  const { id, key } = model.root;
  const attributes = {
    xmlns: 'http://www.w3.org/2005/07/scxml',
    version: '1.0',
    name: key,
    initial: toId(id),
  };
  const document = element('scxml', attributes, stateElement(model, model.root, null));
  return ['<?xml version="1.0" encoding="UTF-8"?>', ...document, ''].join('\n');
}

function stateElement(model: ChartModel, state: ChartState, parent: ChartState | null): string[] {
  const id = toId(state.id);
  if (state.type === 'history') {
    const fallback = element('transition', { target: idOrNull(parent?.initial ?? null) });
    return element('history', { id, type: state.history }, fallback);
  }
  const transitions = transitionsOf(model, state);
  const name = state.type === 'parallel' || state.type === 'final' ? state.type : 'state';
  return element(name, { id, initial: idOrNull(state.initial) }, [
    ...handlerElements(state, transitions),
    ...state.invokes.flatMap((invoke) =>
      element('invoke', { id: toId(invoke.id), type: 'xstate', src: invoke.src }),
    ),
    ...transitions.flatMap((transition) => transitionElement(state, transition)),
    ...state.states.flatMap((child) => stateElement(model, child, state)),
  ]);
}

/** The entry and exit elements: named actions, and the timers of the state's delayed transitions. */
function handlerElements(state: ChartState, transitions: readonly ChartBranch[]): string[] {
  const entry = state.entry.flatMap(actionElement);
  const exit = state.exit.flatMap(actionElement);
  for (const eventType of new Set(transitions.map((transition) => transition.eventType))) {
    const delay = delayOf(eventType, state.id);
    if (delay === null) continue;
    const event = toEvent(eventType);
    const wait = /^\d+$/.test(delay) ? { delay: `${delay}ms` } : { delayexpr: delay };
    entry.push(...element('send', { id: event, event, ...wait }));
    exit.push(...element('cancel', { sendid: event }));
  }
  return [
    ...(entry.length === 0 ? [] : element('onentry', {}, entry)),
    ...(exit.length === 0 ? [] : element('onexit', {}, exit)),
  ];
}

function transitionElement(
  state: ChartState,
  { eventType, guard, targets, reenter, actions }: ChartBranch,
): string[] {
  const staysInside = targets.length > 0 && targets.every((target) => isBelow(state, target));
  const attributes = {
    event: eventType === '' ? null : toEvent(eventType),
    cond: guard,
    target: targets.length === 0 ? null : targets.map(toId).join(' '),
    type: staysInside && !reenter ? 'internal' : null,
  };
  return element('transition', attributes, actions.flatMap(actionElement));
}

function isBelow(state: ChartState, id: string): boolean {
  return state.states.some((child) => child.id === id || isBelow(child, id));
}

function actionElement(name: string): string[] {
  return element('log', { label: name });
}

/** SCXML names the events of invokes and of finished states itself. */
function toEvent(eventType: string): string {
  return eventType
    .replace(/^xstate\.done\.actor\.(.*)$/, (_, id: string) => `done.invoke.${toId(id)}`)
    .replace(/^xstate\.error\.actor\.(.*)$/, (_, id: string) => `error.invoke.${toId(id)}`)
    .replace(/^xstate\./, '');
}

/** XML ids begin with a letter or `_` and hold letters, digits, `.`, `-` and `_`. */
function toId(id: string): string {
  const safe = id === '*' ? id : id.replace(/[^\w.-]/g, '_');
  return /^[\d.-]/.test(safe) ? `_${safe}` : safe;
}

function idOrNull(id: string | null): string | null {
  return id === null ? null : toId(id);
}

function element(
  name: string,
  attributes: Readonly<Record<string, string | null>>,
  children: string[] = [],
): string[] {
  const written = Object.entries(attributes).flatMap(([key, value]) =>
    value === null ? [] : [` ${key}="${escapeAttribute(value)}"`],
  );
  const tag = `<${name}${written.join('')}`;
  if (children.length === 0) return [`${tag}/>`];
  return [`${tag}>`, ...children.map((line) => `  ${line}`), `</${name}>`];
}

function escapeAttribute(value: string): string {
  return value.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
