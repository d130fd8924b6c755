/** The public states and tags of a connection. Imports no chart. */

/** The public states of a connection: first in the order of a successful start, then the others. */
export const CONNECTION_STATES = [
  'configuring',
  'launching',
  'handshaking',
  'ready',
  'reconnecting',
  'failed',
  'shuttingDown',
  'stopped',
] as const;

/** One of `CONNECTION_STATES`. */
export type ConnectionState = (typeof CONNECTION_STATES)[number];

/** The state of a connection as Troupe publishes it. */
export interface PublicState {
  /** Name of the state; one of `CONNECTION_STATES`. */
  readonly state: ConnectionState;
  /** For people: the path below the state, steps joined by `.` and regions by `+`. Programs ask for tags. */
  readonly substate: string;
  /** Tags of every active state, for programs. */
  readonly tags: readonly ConnectionTag[];
}

/**
 * What a state means.
 *
 * - `settled`: nothing more happens without a person, a call or a slow timer.
 * - `attempted`: the first attempt is over, or there will be none.
 * - `usable`: calls can be sent.
 * - `waitingForPerson`: for trust (`awaitingTrust`) or a sign-in (`authorizing`).
 * - `dormant`: lazy; starts when it is needed.
 * - `opening`: the transport of an attempt is being opened.
 * - `exhausted`: out of attempts; a call may cause one more.
 * - `backingOff`, `retryingSlowly`: the next attempt is scheduled. `offline`: it waits for the network.
 * - `probing`, `suspect`: a ping was sent; or one was missed and another was sent.
 * - `refreshing`, `enriching`: the list of tools, or the other lists, are being read.
 * - `stale`: the last refresh of the tools failed.
 * - `preparing`: a changed entry is being tried beside the session in use.
 * - `returning`, `ending`: it shuts down to come back, or for good.
 */
export type ConnectionTag =
  | 'settled'
  | 'attempted'
  | 'usable'
  | 'waitingForPerson'
  | 'awaitingTrust'
  | 'authorizing'
  | 'dormant'
  | 'opening'
  | 'backingOff'
  | 'offline'
  | 'retryingSlowly'
  | 'exhausted'
  | 'probing'
  | 'suspect'
  | 'refreshing'
  | 'enriching'
  | 'stale'
  | 'preparing'
  | 'returning'
  | 'ending';

/**
 * Whether a state has a tag.
 *
 * @param state A public state, a row of `status`, or anything else with `tags`.
 * @param tag The tag to look for.
 *
 * @example
 * ```ts
 * import { hasTag } from 'mcp-troupe/machines';
 *
 * const isWaiting = hasTag(connection.status, 'waitingForPerson');
 * ```
 */
export function hasTag({ tags }: Pick<PublicState, 'tags'>, tag: ConnectionTag): boolean {
  return tags.includes(tag);
}
