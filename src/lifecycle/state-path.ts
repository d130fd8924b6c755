/** A snapshot's state value as people read it. */
import type { ConnectionState } from './event.js';

export interface StatePath {
  readonly state: ConnectionState;
  readonly substate: string;
}

/** The public state and the path below it, regions joined by `+`. */
export function statePath(value: unknown): StatePath {
  if (typeof value === 'string') return { state: value as ConnectionState, substate: '' };
  const [[state, below] = ['configuring', '']] = Object.entries(value as Record<string, unknown>);
  return { state: state as ConnectionState, substate: flatten(below) };
}

function flatten(value: unknown): string {
  if (typeof value === 'string') return value;
  return Object.values(value as Record<string, unknown>)
    .map(flatten)
    .join('+');
}

/** Nothing happens any more without a person, a call or a clock: ready, over, resting, or waiting for somebody. */
export function isSettled({ state, substate }: StatePath): boolean {
  return (
    state === 'ready' ||
    state === 'stopped' ||
    (state === 'failed' && substate !== 'releasing') ||
    substate === 'dormant' ||
    substate === 'awaitingTrust' ||
    substate === 'authorizing'
  );
}
