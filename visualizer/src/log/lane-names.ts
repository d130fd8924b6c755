/**
 * Names of a log's machines on the page: empty for the manager, its name for a connection, and its id behind a prefix for
 * an auxiliary machine. A connection whose name starts with the prefix gets another prefix.
 */
import { connectionName, rootId, rootKind } from '../../../src/actor-system/actor-path.js';

/** The lane of the manager. */
export const MANAGER_LANE = '';
const ROOT = '$:';
const LIKE_A_ROOT = `${ROOT}/`;

/** The lane of the machine at that address, or above it. */
export function laneAt(address: string): string {
  const id = rootId(address);
  return id === undefined ? laneOfConnection(connectionName(address)) : `${ROOT}${id}`;
}

/** The manager's lane if there is no name. */
export function laneOfConnection(name: string | undefined): string {
  if (name === undefined) return MANAGER_LANE;
  return name.startsWith(ROOT) ? `${LIKE_A_ROOT}${name}` : name;
}

export function isConnectionLane(lane: string): boolean {
  return lane !== MANAGER_LANE && idOf(lane) === undefined;
}

/** For people. */
export function laneTitle(lane: string): string {
  if (lane === MANAGER_LANE) return 'manager';
  if (lane.startsWith(LIKE_A_ROOT)) return lane.slice(LIKE_A_ROOT.length);
  return idOf(lane) ?? lane;
}

/** The same, for use within a sentence. */
export function laneInWords(lane: string): string {
  return lane === MANAGER_LANE ? 'the manager' : laneTitle(lane);
}

/** Name of the chart of that lane. */
export function chartOf(lane: string): string {
  const id = idOf(lane);
  if (id !== undefined) return rootKind(id);
  return lane === MANAGER_LANE ? 'manager' : 'connection';
}

/** The id of an auxiliary machine; undefined for any other. */
function idOf(lane: string): string | undefined {
  return lane.startsWith(ROOT) && !lane.startsWith(LIKE_A_ROOT) ? lane.slice(ROOT.length) : undefined;
}
