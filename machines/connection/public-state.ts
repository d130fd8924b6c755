/**
 * The public state, the substate and the tags of a connection, read from the value of its state. The only place that
 * takes that value apart.
 */
import type { AnyStateNode, StateValue } from 'xstate';
import { connectionMachine } from './connection.machine.js';
import type { ConnectionState, ConnectionTag, PublicState } from './connection.states.js';

/** States of a region in which nothing happens. */
const NOTHING = 'none';
/** Regions that say nothing about the tools. */
const BESIDE: ReadonlySet<string> = new Set(['extras', 'subscription']);

/** Memo: it is read at every call, and the value of a state never changes. */
const ofValue = new WeakMap<object, PublicState>();
/** Shared by connections in the same state. There are a few hundred such values at most. */
const ofText = new Map<string, PublicState>();
const MAX_KEPT = 2_000;

/**
 * The public state for the value of a snapshot of the connection chart, or for a state in a log.
 *
 * @param value `value` of a snapshot. States that this version does not know have no tags.
 *
 * @example
 * ```ts
 * import { publicState } from 'mcp-troupe/machines';
 *
 * const { state, substate, tags } = publicState({ starting: 'launching' });
 * ```
 */
export function publicState(value: StateValue): PublicState {
  const known = typeof value === 'string' ? undefined : ofValue.get(value);
  if (known !== undefined) return known;
  const text = JSON.stringify(value);
  const found = ofText.get(text) ?? read(value);
  if (ofText.size < MAX_KEPT) ofText.set(text, found);
  if (typeof value !== 'string') ofValue.set(value, found);
  return found;
}

function read(value: StateValue): PublicState {
  const [state, below = ''] = withoutGroup(stepOf(value));
  return {
    state: state as ConnectionState,
    substate: pathOf(below),
    tags: tagsOf(connectionMachine.root, value),
  };
}

/** `starting` groups two public states and is not public itself. */
function withoutGroup(step: Step): Step {
  const [top, below = ''] = step;
  const inner = stepOf(below);
  return top === 'starting' && (inner[0] === 'launching' || inner[0] === 'handshaking') ? inner : step;
}

/**
 * The path of any machine's state, for people: steps are joined by `.` and regions by `+`.
 *
 * @param value `value` of a snapshot.
 *
 * @example
 * ```ts
 * import { statePath } from 'mcp-troupe/machines';
 *
 * console.log(statePath({ starting: 'launching' })); // starting.launching
 * ```
 */
export function statePath(value: StateValue): string {
  if (typeof value === 'string') return value;
  const { state, substate } = publicState(value);
  return Object.keys(value).length > 1 ? pathOf(value) : substate === '' ? state : `${state}.${substate}`;
}

/** The outermost state that is active, and what is active in it. */
type Step = readonly [key: string, below?: StateValue];

function stepOf(value: StateValue): Step {
  if (typeof value === 'string') return [value];
  const [[key, below] = ['']] = Object.entries(value);
  return below === undefined ? [key] : [key, below];
}

/** A value with several keys has regions. Their names are not part of the path: the states in them say enough. */
function pathOf(value: StateValue): string {
  if (typeof value === 'string') return value;
  const entries = Object.entries(value);
  const shown = entries.filter(([region, below]) => !BESIDE.has(region) && below !== NOTHING);
  return shown
    .map(([key, below = '']) => (entries.length > 1 ? pathOf(below) : `${key}.${pathOf(below)}`))
    .join('+');
}

/** A log of another version may name states that this version does not have. */
function tagsOf(node: AnyStateNode | undefined, value: StateValue): readonly ConnectionTag[] {
  const below = typeof value === 'string' ? ([[value]] as const) : Object.entries(value);
  const active = below.flatMap(([key, inner]) => {
    // A log may name anything, such as `__proto__`.
    const child = node !== undefined && Object.hasOwn(node.states, key) ? node.states[key] : undefined;
    return [...(child?.tags ?? []), ...(inner === undefined ? [] : tagsOf(child, inner))];
  });
  return [...new Set(active)] as readonly ConnectionTag[];
}
