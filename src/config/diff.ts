/**
 * Compares a new reading of the sources with the present servers. Pure.
 *
 * D1. Meaning counts, not text: entries are compared in their normal form (see `spelling.ts`), and settings by their
 *     effective values.
 * D2. A mistake never removes a server: it stays unchanged if its source cannot be read, or if its entry cannot be used
 *     any more.
 */
import { effectiveSettings, type HostSettings } from './entry/effective-settings.js';
import { FIELD_ROWS } from './entry/entry-fields.js';
import type { ServerConfig } from './entry/server-config.js';
import { hashOf } from '../json/json-hash.js';
import { declaredInputs } from './entry/inputs.js';
import type { ConfigProblem } from '../errors.js';
import type { MergedServers } from './merge.js';
import type { ServerRow, ServerSpec } from './entry/server-spec.js';
import { isError } from './entry/problem.js';

export interface ChangedServer {
  readonly before: ServerRow;
  readonly after: ServerRow;
  /** The target has changed, so a new session is required. Otherwise only settings differ. */
  readonly needsSession: boolean;
}

/** Each name is in exactly one of the lists. */
export interface ConfigDiff {
  readonly added: readonly ServerRow[];
  readonly removed: readonly ServerRow[];
  readonly changed: readonly ChangedServer[];
  /** The rows to keep. The same entry in another source counts as unchanged. */
  readonly unchanged: readonly ServerRow[];
}

/** The result of reading the sources. */
interface LoadedServers extends Pick<MergedServers, 'servers' | 'refused'> {
  readonly problems: readonly ConfigProblem[];
}

export function diffServers(
  before: readonly ServerRow[],
  loaded: LoadedServers,
  host: HostSettings,
): ConfigDiff {
  const unreadable = unreadableSources(loaded);
  const known = new Set(before.map(({ name }) => name));
  const now = new Map([...loaded.servers, ...loaded.refused].map((row) => [row.name, row]));
  const removed: ServerRow[] = [];
  const changed: ChangedServer[] = [];
  const unchanged: ServerRow[] = [];
  for (const row of before) {
    const after = now.get(row.name);
    const isUnreadable = unreadable.has(row.source) && after?.source !== row.source;
    if (isUnreadable || isBroken(row, after)) unchanged.push(row);
    else if (after === undefined) removed.push(row);
    else if (!isSameTarget(row, after)) changed.push({ before: row, after, needsSession: true });
    else if (!isSameSettings(row, after, host)) changed.push({ before: row, after, needsSession: false });
    else unchanged.push(after);
  }
  return { added: [...now.values()].filter(({ name }) => !known.has(name)), removed, changed, unchanged };
}

/** Sources with an error that concerns no single server. A server that is missing there was not removed. */
function unreadableSources({ problems }: Pick<LoadedServers, 'problems'>): ReadonlySet<string> {
  const whole = problems.filter((problem) => isError(problem) && problem.server === undefined);
  return new Set(whole.map(({ source }) => source));
}

/** The entry was usable, and now it is not. */
function isBroken(before: ServerRow, after: ServerRow | undefined): boolean {
  return after !== undefined && 'failure' in after && !('failure' in before);
}

function isSameTarget(before: ServerRow, after: ServerRow): boolean {
  if ('failure' in before || 'failure' in after) {
    return 'failure' in before && 'failure' in after && before.failure.message === after.failure.message;
  }
  return (
    hashOf(targetOf(before)) === hashOf(targetOf(after)) &&
    serverObject(before.config) === serverObject(after.config)
  );
}

function isSameSettings(before: ServerRow, after: ServerRow, host: HostSettings): boolean {
  if ('failure' in before || 'failure' in after) return true;
  const meaningOf = (config: ServerConfig): string => hashOf(effectiveSettings(config, host));
  return meaningOf(before.config) === meaningOf(after.config);
}

/** The fields whose change needs a new session. */
const TARGET = new Set(FIELD_ROWS.flatMap(([name, { onReload }]) => (onReload === 'restart' ? [name] : [])));

/**
 * What is started or reached. It includes the folder for relative paths, and for an entry of a project, as trust does.
 * The file's proposal for an input stands in for the answer.
 */
export function targetOf(spec: ServerSpec): object {
  const { config, baseDir, fileDir, scope } = spec;
  const fields = Object.entries(config).filter(([field]) => TARGET.has(field));
  const isFound = scope === 'project';
  const proposals = declaredInputs(spec).flatMap(({ id, default: text }) =>
    text === undefined ? [] : [[id, text]],
  );
  return {
    ...Object.fromEntries(fields),
    isFound,
    ...(('command' in config || 'headersHelper' in config || isFound) && { baseDir }),
    ...('envFile' in config && { fileDir }),
    ...(proposals.length > 0 && { proposals }),
  };
}

/** An object has no content to compare: another object is another server. */
function serverObject(config: ServerConfig): unknown {
  return 'server' in config ? config.server : undefined;
}
