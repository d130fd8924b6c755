/**
 * Names of a log's machines on the page: empty for the manager, its name for a connection, and its id behind a prefix for
 * an auxiliary machine. A connection whose name starts with the prefix gets another prefix. If a page shows several recordings,
 * the label of its recording follows, behind a separator; so it does in addresses.
 */
import { connectionName, rootId, rootKind } from '../../../src/actor-system/actor-path.js';

/** The lane of the manager. */
export const MANAGER_LANE = '';
const ROOT = '$:';
const LIKE_A_ROOT = `${ROOT}/`;

/** No configuration allows it in a name. */
const SEPARATOR = '\u0001@\u0001';

/** The name or the address with the label of its recording. */
export function ofRun(name: string, label: string | undefined): string {
  return label === undefined ? name : `${name}${SEPARATOR}${label}`;
}

/** Both again. */
export function splitRun(name: string): readonly [name: string, label: string | undefined] {
  const end = name.lastIndexOf(SEPARATOR);
  return end === -1 ? [name, undefined] : [name.slice(0, end), name.slice(end + SEPARATOR.length)];
}

/** The lane of the machine at that address, or above it. */
export function laneAt(marked: string): string {
  const [address, label] = splitRun(marked);
  const id = rootId(address);
  return ofRun(id === undefined ? laneOfConnection(connectionName(address)) : `${ROOT}${id}`, label);
}

/** The manager's lane if there is no name. */
export function laneOfConnection(name: string | undefined): string {
  if (name === undefined) return MANAGER_LANE;
  return name.startsWith(ROOT) ? `${LIKE_A_ROOT}${name}` : name;
}

export function isConnectionLane(lane: string): boolean {
  return splitRun(lane)[0] !== MANAGER_LANE && idOf(lane) === undefined;
}

export function isAuxiliaryLane(lane: string): boolean {
  return idOf(lane) !== undefined;
}

/** For people. */
export function laneTitle(lane: string): string {
  const [name, label] = splitRun(lane);
  const title = titleOf(name);
  return label === undefined ? title : `${title} (${label})`;
}

function titleOf(name: string): string {
  if (name === MANAGER_LANE) return 'manager';
  if (name.startsWith(LIKE_A_ROOT)) return name.slice(LIKE_A_ROOT.length);
  return idOf(name) ?? name;
}

/** The same, for use within a sentence. */
export function laneInWords(lane: string): string {
  return lane === MANAGER_LANE ? 'the manager' : laneTitle(lane);
}

/** Name of the chart of that lane. */
export function chartOf(lane: string): string {
  const id = idOf(lane);
  if (id !== undefined) return rootKind(id);
  return splitRun(lane)[0] === MANAGER_LANE ? 'manager' : 'connection';
}

/** The id of an auxiliary machine; undefined for any other. */
function idOf(lane: string): string | undefined {
  const [name] = splitRun(lane);
  return name.startsWith(ROOT) && !name.startsWith(LIKE_A_ROOT) ? name.slice(ROOT.length) : undefined;
}
