/** A snapshot's state value as people read it. */
import type { ConnectionState } from './event.js';

export interface StatePath {
  readonly state: ConnectionState;
  readonly substate: string;
}

/** The state of a region in which nothing happens, and which is not worth a word. */
const NOTHING = 'none';

/** The region that reads what is beside the tools: best effort, and nobody waits for it. */
const UNTOLD = 'extras';

/** It is asked for at every call, and a state's value never changes. */
const known = new WeakMap<object, StatePath>();

/** The public state and the path below it, regions joined by `+`. */
export function statePath(value: unknown): StatePath {
  if (typeof value !== 'object' || value === null) return { state: value as ConnectionState, substate: '' };
  const path = known.get(value) ?? pathOf(value);
  known.set(value, path);
  return path;
}

function pathOf(value: object): StatePath {
  const [[state, below] = ['configuring', '']] = Object.entries(value as Record<string, unknown>);
  return { state: state as ConnectionState, substate: flatten(below) };
}

function flatten(value: unknown): string {
  if (typeof value === 'string') return value;
  return Object.entries(value as Record<string, unknown>)
    .filter(([region]) => region !== UNTOLD)
    .map(([, below]) => flatten(below))
    .filter((region) => region !== NOTHING)
    .join('+');
}

/** The connection is ready, and what its server has beside tools is being read. */
export function isListing(value: unknown): boolean {
  const { ready } = value as { readonly ready?: { readonly [UNTOLD]?: unknown } };
  return ready?.[UNTOLD] === 'listing';
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
