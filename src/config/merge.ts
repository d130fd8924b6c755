/**
 * Merges the servers of several sources: one per name.
 *
 * M1. The earlier source takes precedence. The exception is an entry of a project's file, which anyone who can write
 *     to the repository controls: before it is trusted, it takes no name away from the host, a given file, the user or
 *     an extension.
 * M2. A refused entry still claims its name: an entry that was replaced does not come back because its replacement has
 *     a mistake.
 * M3. Every source that names a server may restrict it: its lists of tools count, and so does `enabled: false` of an
 *     earlier source, even if another entry is used. An entry of a project's file counts once it is trusted.
 */
import { dirname } from 'node:path';
import type { ConfigProblem } from '../errors.js';
import type { ServerConfig, ServerSettings } from './entry/server-config.js';
import type { RawFailure } from '../failures/transport-error.js';
import { entryHash } from './entry/spelling.js';
import type { RefusedServer, ServerRow, ServerSpec, Scope } from './entry/server-spec.js';
import { describeProblem, errorsByServer } from './entry/problem.js';
import { sourceName, type SourceEntries } from './files/sources.js';
import { isAllowed } from './entry/tool-filter.js';

export interface MergedServers {
  readonly servers: readonly ServerSpec[];
  readonly refused: readonly RefusedServer[];
  /** Entries of the project that would replace those with the same name if they were trusted. */
  readonly heldBack: readonly ServerSpec[];
  /** Further entries of the project that would restrict those with the same name if they were trusted. */
  readonly uncounted: readonly ServerSpec[];
}

/** Whether an entry of a project's file is trusted. */
export type IsTrusted = (spec: ServerSpec) => boolean;

export function mergeSources(
  sources: readonly SourceEntries[],
  isTrusted: IsTrusted = () => false,
): MergedServers {
  const errorsOf = new Map(sources.map((from) => [from, errorsByServer(from.problems)]));
  const claimants = new Map<string, SourceEntries[]>();
  for (const from of sources) {
    for (const name of [...from.entries.keys(), ...from.refused]) {
      claimants.set(name, [...(claimants.get(name) ?? []), from]);
    }
  }
  const whyNot: WhyNot = (name, from) => toFailure(errorsOf.get(from)?.get(name) ?? []);
  const merged = [...claimants].map(([name, claims]) => mergeClaims(name, claims, isTrusted, whyNot));
  const rows = merged.flatMap(({ row }) => row ?? []).toSorted(byTrust);
  return {
    servers: rows.flatMap((row) => ('failure' in row ? [] : [row])),
    refused: rows.flatMap((row) => ('failure' in row ? [row] : [])),
    heldBack: merged.flatMap(({ heldBack }) => heldBack),
    uncounted: merged.flatMap(({ uncounted }) => uncounted),
  };
}

interface MergedClaims {
  readonly row: ServerRow | undefined;
  readonly heldBack: readonly ServerSpec[];
  readonly uncounted: readonly ServerSpec[];
}

/** Why the entry of a source cannot be used. */
type WhyNot = (name: string, from: SourceEntries) => RawFailure;

/** `claims` are in order of precedence. */
function mergeClaims(
  name: string,
  claims: readonly SourceEntries[],
  isTrusted: IsTrusted,
  whyNot: WhyNot,
): MergedClaims {
  const counts = (claim: SourceEntries): boolean => {
    if (claim.source.scope !== 'project') return true;
    const spec = toSpec(name, claim, []);
    return spec !== undefined && isTrusted(spec);
  };
  const winner = claims.find(counts) ?? claims[0];
  if (winner === undefined) return { row: undefined, heldBack: [], uncounted: [] };
  const before = claims.slice(0, claims.indexOf(winner));
  const losers = claims.filter((claim) => claim !== winner);
  const shadows = losers.map(({ source }) => sourceName(source));
  const heldBack = before.flatMap((claim) => toSpec(name, claim, [sourceName(winner.source)]) ?? []);
  const uncounted = losers.flatMap((claim) => {
    const spec = before.includes(claim) || counts(claim) ? undefined : toSpec(name, claim, []);
    return spec !== undefined && restricts(spec.config) ? [spec] : [];
  });
  const spec = toSpec(name, winner, shadows);
  if (spec === undefined) {
    const { source } = winner;
    const claim = { name, source: sourceName(source), scope: source.scope, shadows };
    return { row: { ...claim, failure: whyNot(name, winner) }, heldBack, uncounted };
  }
  const counting = losers.filter(counts);
  const earlier = counting.filter((claim) => before.includes(claim));
  const row = restricted(spec, configsOf(name, earlier), configsOf(name, counting));
  return { row, heldBack, uncounted };
}

/** Whether an entry restricts others of the same name. */
export function restricts({ enabled, tools }: ServerConfig): boolean {
  return enabled === false || tools !== undefined;
}

function toSpec(name: string, claim: SourceEntries, shadows: readonly string[]): ServerSpec | undefined {
  const { source, baseDir, entries, inputs } = claim;
  const config = entries.get(name);
  const contents = claim.contents?.get(name);
  if (config === undefined) return undefined;
  return {
    name,
    source: sourceName(source),
    scope: source.scope,
    shadows,
    baseDir,
    ...(source.path !== undefined && { fileDir: dirname(source.path) }),
    config,
    hash: entryHash(config),
    ...(contents !== undefined && { contents }),
    ...(inputs !== undefined && inputs.size > 0 && { inputs }),
  };
}

function configsOf(name: string, claims: readonly SourceEntries[]): readonly ServerConfig[] {
  return claims.flatMap(({ entries }) => entries.get(name) ?? []);
}

function restricted(
  spec: ServerSpec,
  earlier: readonly ServerConfig[],
  others: readonly ServerConfig[],
): ServerSpec {
  const isOff = earlier.some(({ enabled }) => enabled === false);
  const filtered = restrictTools(spec.config, others);
  const config = isOff && filtered.enabled !== false ? { ...filtered, enabled: false } : filtered;
  if (config === spec.config) return spec;
  return { ...spec, config, hash: entryHash(config), ownHash: spec.hash };
}

/** Entries that need no trust come first. */
function byTrust(a: { readonly scope: Scope }, b: { readonly scope: Scope }): number {
  return Number(a.scope === 'project') - Number(b.scope === 'project');
}

function toFailure(reasons: readonly ConfigProblem[]): RawFailure {
  return { code: 'config-invalid', message: reasons.map(describeProblem).join('; ') };
}

/**
 * Combines the tool lists of several sources that name the same server. Each source can only restrict: even a source
 * whose entry is not used still counts.
 */
type Tools = NonNullable<ServerSettings['tools']>;

/**
 * The first entry with the others' restrictions: lists of allowed tools intersect, those of denied tools unite. Returns
 * the same object if nothing changes.
 */
export function restrictTools(winner: ServerConfig, others: readonly ServerConfig[]): ServerConfig {
  const all = [winner, ...others].flatMap(({ tools }) => tools ?? []);
  const allow = all
    .flatMap((tools) => (tools.allow === undefined ? [] : [tools.allow]))
    .reduce<readonly string[] | undefined>((one, other) => (one ? intersect(one, other) : other), undefined);
  const deny = [...new Set(all.flatMap((tools) => tools.deny ?? []))];
  if (isSame(winner.tools, allow, deny)) return winner;
  const tools: Tools = { ...(allow && { allow }), ...(deny.length > 0 && { deny }) };
  return { ...winner, tools };
}

function isSame(
  tools: Tools | undefined,
  allow: readonly string[] | undefined,
  deny: readonly string[],
): boolean {
  return (
    JSON.stringify(tools?.allow) === JSON.stringify(allow) &&
    JSON.stringify(tools?.deny ?? []) === JSON.stringify(deny)
  );
}

/**
 * Patterns that match only what both lists match. Of two patterns the narrower one stays. Two that merely overlap, such
 * as `a*` and `*b`, have no common pattern and are dropped.
 */
function intersect(one: readonly string[], other: readonly string[]): readonly string[] {
  const narrower = (patterns: readonly string[], limits: readonly string[]): readonly string[] =>
    patterns.filter((pattern) => limits.some((limit) => isAllowed(pattern, { allow: [limit] })));
  return [...new Set([...narrower(one, other), ...narrower(other, one)])];
}
