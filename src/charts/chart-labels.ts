/**
 * Labels for guards, actions and internal event types of XState, for people. A name must not depend on how a bundler
 * renames functions, so an unnamed function is always `inline`.
 */
import { and, not, or, stateIn } from 'xstate';

/** What makes a transition happen. `event` is a fact or command by name; the others are XState's own. */
export type ChartEventKind = 'event' | 'done' | 'error' | 'after' | 'always' | 'snapshot';

export interface EventLabel {
  readonly kind: ChartEventKind;
  /** `openTransport done`, `after backoffDelay`, `connection.stop`. */
  readonly text: string;
}

/** The parts of XState's guard and action objects that carry a name; the library declares most of them nowhere. */
interface Nameable {
  readonly type?: unknown;
  readonly check?: unknown;
  readonly guards?: readonly unknown[];
  readonly stateValue?: unknown;
  readonly event?: unknown;
  readonly sendId?: unknown;
  readonly actorRef?: unknown;
  readonly src?: unknown;
}

const checkOf = (guard: unknown): unknown => (guard as Nameable).check;
const NOT = checkOf(not('x'));
const AND = checkOf(and(['x']));
const OR = checkOf(or(['x']));
const STATE_IN = checkOf(stateIn('x'));

/** A guard as an expression: `canRetry`, `not canRetry`, `isRemote and (isOnline or isForced)`. */
export function guardName(guard: unknown): string {
  if (typeof guard === 'string') return guard;
  const { type, check, guards = [], stateValue } = guard as Nameable;
  if (typeof type === 'string') return type;
  if (check === NOT) return `not ${operand(guards[0])}`;
  if (check === AND) return guards.map(operand).join(' and ');
  if (check === OR) return guards.map(operand).join(' or ');
  if (check === STATE_IN)
    return `in ${typeof stateValue === 'string' ? stateValue : JSON.stringify(stateValue)}`;
  return 'inline';
}

function operand(guard: unknown): string {
  const name = guardName(guard);
  const isSequence = [AND, OR].includes(checkOf(guard)) && ((guard as Nameable).guards?.length ?? 0) > 1;
  return isSequence ? `(${name})` : name;
}

/** The name of an action; for a built-in one its kind and, if that is fixed, its object: `raise turn.over`. */
export function actionName(action: unknown): string {
  if (typeof action === 'string') return action;
  const { type, event, sendId, actorRef, src } = action as Nameable;
  if (typeof type !== 'string') return 'inline';
  if (!type.startsWith('xstate.')) return type;
  const eventType = typeof event === 'object' && event !== null ? (event as Nameable).type : undefined;
  const subject = [eventType, sendId, actorRef, src].find((part) => typeof part === 'string');
  return [type.slice('xstate.'.length), subject].filter((part) => part !== undefined).join(' ');
}

const ACTOR_EVENTS = [
  { prefix: 'xstate.done.actor.', kind: 'done', word: 'done' },
  { prefix: 'xstate.error.actor.', kind: 'error', word: 'error' },
  { prefix: 'xstate.snapshot.', kind: 'snapshot', word: 'snapshot' },
] as const;

/**
 * An event descriptor in words. `actorName` says how an actor of that id is called; `stateId` is the state that
 * owns the transition, which XState appends to the type of its delayed events.
 */
export function eventLabel(
  descriptor: string,
  stateId: string,
  actorName: (id: string) => string,
): EventLabel {
  if (descriptor === '') return { kind: 'always', text: 'always' };
  for (const { prefix, kind, word } of ACTOR_EVENTS) {
    if (!descriptor.startsWith(prefix)) continue;
    const id = descriptor.slice(prefix.length);
    return { kind, text: `${id === '*' ? 'any actor' : actorName(id)} ${word}` };
  }
  if (descriptor === `xstate.done.state.${stateId}`) return { kind: 'done', text: 'done' };
  const delay = delayOf(descriptor, stateId);
  if (delay === null) return { kind: 'event', text: descriptor };
  return { kind: 'after', text: /^\d+$/.test(delay) ? `after ${delay} ms` : `after ${delay}` };
}

/** The delay, a name or a number of milliseconds, of a delayed event that belongs to the state; else null. */
export function delayOf(descriptor: string, stateId: string): string | null {
  const [before, after] = ['xstate.after.', `.${stateId}`];
  if (!descriptor.startsWith(before) || !descriptor.endsWith(after)) return null;
  return descriptor.slice(before.length, -after.length);
}
