/**
 * Brings the servers of several sources together: one per name.
 *
 * M1. The earlier source wins, except that an entry of a project's file, which anybody who can write to the repository
 *     controls, takes no name away from the host, a given file, the user or an extension before it is approved.
 * M2. A refused entry still claims its name: what somebody replaced does not come back because the
 *     replacement has a mistake in it.
 * M3. Every source that names a server may restrict it: its lists of tools count, and so does `enabled: false` of an
 *     earlier one, even where another entry is used.
 */
import type { ConfigProblem } from '../errors.js';
import type { ServerConfig } from '../options.js';
import type { RawFailure } from '../transports/session-transport.js';
import { entryHash } from './entry-hash.js';
import type { InputSpec } from './inputs.js';
import { describeProblem, errorsByServer } from './problem.js';
import { restrictTools } from './restrict.js';
import { sourceName, type Scope, type Source } from './sources.js';

interface Claim {
  readonly name: string;
  /** The source that names it, as a person would recognise it. */
  readonly source: string;
  readonly scope: Scope;
  /** Sources whose entry of the same name is not used. */
  readonly shadows: readonly string[];
}

/** One server that may be started. */
export interface ServerSpec extends Claim {
  /** Absolute path of the folder that relative paths of the entry start from. */
  readonly baseDir: string;
  /** Validated, but unexpanded: it holds names of variables, no values. */
  readonly config: ServerConfig;
  /** Fingerprint of the entry; see `entryHash`. */
  readonly hash: string;
  /** Fingerprint of the entry as its source has it, where others restrict it: approval is bound to this one. */
  readonly ownHash?: string;
  /** What its source says about the answers it refers to. */
  readonly inputs?: ReadonlyMap<string, InputSpec>;
}

/** A server that cannot be started until somebody corrects its entry. */
export interface RefusedServer extends Claim {
  readonly failure: RawFailure;
}

/** What one source names. */
export interface SourceEntries {
  readonly source: Source;
  readonly baseDir: string;
  readonly entries: ReadonlyMap<string, ServerConfig>;
  readonly refused: readonly string[];
  readonly problems: readonly ConfigProblem[];
  readonly inputs?: ReadonlyMap<string, InputSpec>;
}

export interface MergedServers {
  readonly servers: readonly ServerSpec[];
  readonly refused: readonly RefusedServer[];
  /** Entries of the project that would be used instead of those of the same name, if somebody approved them. */
  readonly heldBack: readonly ServerSpec[];
}

/** Whether somebody approved an entry of a project's file. */
export type IsApproved = (spec: ServerSpec) => boolean;

export function mergeSources(
  sources: readonly SourceEntries[],
  isApproved: IsApproved = () => false,
): MergedServers {
  const errorsOf = new Map(sources.map((from) => [from, errorsByServer(from.problems)]));
  const claimants = new Map<string, SourceEntries[]>();
  for (const from of sources) {
    for (const name of [...from.entries.keys(), ...from.refused]) {
      claimants.set(name, [...(claimants.get(name) ?? []), from]);
    }
  }
  const whyNot: WhyNot = (name, from) => toFailure(errorsOf.get(from)?.get(name) ?? []);
  const merged = [...claimants].map(([name, claims]) => mergeClaims(name, claims, isApproved, whyNot));
  const rows = merged.flatMap(({ row }) => row ?? []).toSorted(byTrust);
  return {
    servers: rows.flatMap((row) => ('failure' in row ? [] : [row])),
    refused: rows.flatMap((row) => ('failure' in row ? [row] : [])),
    heldBack: merged.flatMap(({ heldBack }) => heldBack),
  };
}

interface MergedClaims {
  readonly row: ServerSpec | RefusedServer | undefined;
  readonly heldBack: readonly ServerSpec[];
}

/** Why the entry of a source cannot be used. */
type WhyNot = (name: string, from: SourceEntries) => RawFailure;

/** `claims` are in order of precedence. */
function mergeClaims(
  name: string,
  claims: readonly SourceEntries[],
  isApproved: IsApproved,
  whyNot: WhyNot,
): MergedClaims {
  const mayWin = (claim: SourceEntries): boolean => {
    if (claim.source.scope !== 'project') return true;
    const spec = toSpec(name, claim, []);
    return spec !== undefined && isApproved(spec);
  };
  const winner = claims.find(mayWin) ?? claims[0];
  if (winner === undefined) return { row: undefined, heldBack: [] };
  const before = claims.slice(0, claims.indexOf(winner));
  const losers = claims.filter((claim) => claim !== winner);
  const shadows = losers.map(({ source }) => sourceName(source));
  const heldBack = before.flatMap((claim) => toSpec(name, claim, [sourceName(winner.source)]) ?? []);
  const spec = toSpec(name, winner, shadows);
  if (spec === undefined) {
    const { source } = winner;
    const claim = { name, source: sourceName(source), scope: source.scope, shadows };
    return { row: { ...claim, failure: whyNot(name, winner) }, heldBack };
  }
  return { row: restricted(spec, configsOf(name, before), configsOf(name, losers)), heldBack };
}

function toSpec(name: string, claim: SourceEntries, shadows: readonly string[]): ServerSpec | undefined {
  const { source, baseDir, entries, inputs } = claim;
  const config = entries.get(name);
  if (config === undefined) return undefined;
  return {
    name,
    source: sourceName(source),
    scope: source.scope,
    shadows,
    baseDir,
    config,
    hash: entryHash(config),
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

/** What nobody needs to approve comes first. */
function byTrust(a: { readonly scope: Scope }, b: { readonly scope: Scope }): number {
  return Number(a.scope === 'project') - Number(b.scope === 'project');
}

function toFailure(reasons: readonly ConfigProblem[]): RawFailure {
  return { code: 'config-invalid', message: reasons.map(describeProblem).join('; ') };
}
