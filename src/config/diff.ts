/**
 * What a new reading of the sources changes for the servers there are. Pure.
 *
 * D1. Meaning counts, not text: entries are compared in their normal form (see `normal-form.ts`), with every default
 *     in its place.
 * D2. Nobody loses a server by a mistake: it stays as it is where its source cannot be read, or where its entry cannot
 *     be used any more.
 */
import type { ConnectionPolicy } from '../../machines/policy/policy.js';
import { DEFAULT_CALL_TIMEOUT_MS, type ServerConfig, type ServerSettings } from '../options.js';
import { hashOf } from './entry-hash.js';
import { declaredInputs } from './inputs.js';
import type { LoadedConfig } from './load.js';
import type { RefusedServer, ServerSpec } from './merge.js';
import { isError } from './problem.js';

type Row = ServerSpec | RefusedServer;

export interface ChangedServer {
  readonly before: Row;
  readonly after: Row;
  /** What is started or reached is another: only a new session can follow. Otherwise only settings differ. */
  readonly needsSession: boolean;
}

/** Every name is in one of the lists. */
export interface ConfigDiff {
  readonly added: readonly Row[];
  readonly removed: readonly Row[];
  readonly changed: readonly ChangedServer[];
  /** As they are to be kept; another source of the same entry is no change. */
  readonly unchanged: readonly Row[];
}

/** `policyOf` gives the numbers an entry comes to, with the host's own under them. */
export function diffServers(
  before: readonly Row[],
  loaded: Pick<LoadedConfig, 'servers' | 'refused' | 'problems'>,
  policyOf: (config: ServerConfig) => ConnectionPolicy,
): ConfigDiff {
  const unreadable = unreadableSources(loaded);
  const known = new Set(before.map(({ name }) => name));
  const now = new Map([...loaded.servers, ...loaded.refused].map((row) => [row.name, row]));
  const removed: Row[] = [];
  const changed: ChangedServer[] = [];
  const unchanged: Row[] = [];
  for (const row of before) {
    const after = now.get(row.name);
    const isUnreadable = unreadable.has(row.source) && after?.source !== row.source;
    if (isUnreadable || isBroken(row, after)) unchanged.push(row);
    else if (after === undefined) removed.push(row);
    else if (!isSameTarget(row, after)) changed.push({ before: row, after, needsSession: true });
    else if (!isSameSettings(row, after, policyOf)) changed.push({ before: row, after, needsSession: false });
    else unchanged.push(after);
  }
  return { added: [...now.values()].filter(({ name }) => !known.has(name)), removed, changed, unchanged };
}

/** Sources with an error that is about no single server: what they do not name, nobody took away. */
function unreadableSources({ problems }: Pick<LoadedConfig, 'problems'>): ReadonlySet<string> {
  const whole = problems.filter((problem) => isError(problem) && problem.server === undefined);
  return new Set(whole.map(({ source }) => source));
}

/** There was an entry that can be used, and now there is one that cannot. */
function isBroken(before: Row, after: Row | undefined): boolean {
  return after !== undefined && 'failure' in after && !('failure' in before);
}

function isSameTarget(before: Row, after: Row): boolean {
  if ('failure' in before || 'failure' in after) {
    return 'failure' in before && 'failure' in after && before.failure.message === after.failure.message;
  }
  return (
    hashOf(targetOf(before)) === hashOf(targetOf(after)) &&
    serverObject(before.config) === serverObject(after.config)
  );
}

function isSameSettings(
  before: Row,
  after: Row,
  policyOf: (config: ServerConfig) => ConnectionPolicy,
): boolean {
  if ('failure' in before || 'failure' in after) return true;
  const meaningOf = (config: ServerConfig): string =>
    hashOf({ ...DEFAULTS, ...settingsOf(config), ...IN_THE_POLICY, policy: policyOf(config) });
  return meaningOf(before.config) === meaningOf(after.config);
}

/** What takes effect without a new session. */
const SETTINGS: ReadonlySet<string> = new Set([
  'enabled',
  'tools',
  'start',
  'idleStopMs',
  'timeout',
  'callTimeout',
  'maxConcurrentCalls',
  'policy',
  'retryCalls',
  'isolation',
] satisfies (keyof ServerSettings)[]);
const DEFAULTS = {
  enabled: true,
  start: 'eager',
  callTimeout: DEFAULT_CALL_TIMEOUT_MS,
  maxConcurrentCalls: 0,
};
const IN_THE_POLICY = { timeout: null, idleStopMs: null };

function settingsOf(config: ServerConfig): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(config).filter(([field]) => SETTINGS.has(field)));
}

/**
 * What is started or reached. Relative paths make the folder part of it, and so does a find in a project, as approved.
 * What the file proposes for an answer stands in for it.
 */
export function targetOf(spec: ServerSpec): object {
  const { config, baseDir, scope } = spec;
  const fields = Object.entries(config).filter(([field]) => !SETTINGS.has(field) && field !== 'server');
  const isFound = scope === 'project';
  const proposals = declaredInputs(spec).flatMap(({ id, default: text }) =>
    text === undefined ? [] : [[id, text]],
  );
  return {
    ...Object.fromEntries(fields),
    isFound,
    ...(('command' in config || isFound) && { baseDir }),
    ...(proposals.length > 0 && { proposals }),
  };
}

/** An object has no content that could be compared: another object is another server. */
function serverObject(config: ServerConfig): unknown {
  return 'server' in config ? config.server : undefined;
}
