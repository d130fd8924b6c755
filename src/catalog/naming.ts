/**
 * The names under which tools are shown to a model.
 *
 * Owns the mapping from raw identity (server and tool) to exposed name, for a whole catalog at once. Routing looks
 * names up in the result and never takes one apart.
 *
 * N1. Every name matches `[a-zA-Z0-9_-]{1,64}`, the narrowest rule among model providers, and no two are equal.
 * N2. A name depends on the identities in the catalog, never on their order.
 * N3. A name that fits and is unique stays as the template gives it. One that was cut or cleaned ends in a hash of its
 *     identity, and so does *every* member of a collision: no tool keeps a name that others claim.
 * N4. A tool that collides with no other renames no other.
 */
import { createHash } from 'node:crypto';
import type { NamingTemplate } from '../config/entry/server-config.js';

export interface ToolIdentity {
  /** The configured name of the server; holds no NUL. */
  readonly server: string;
  /** The tool's name as the server gave it. */
  readonly tool: string;
}

const MAX_LENGTH = 64;
const FITS = /^[a-zA-Z0-9_-]{1,64}$/;
const HASH_STEP = 8;

/** The identity as one string: server, NUL, tool. */
export function rawKey({ server, tool }: ToolIdentity): string {
  return `${server}\0${tool}`;
}

interface Candidate {
  readonly key: string;
  readonly cleaned: string;
  /** Hex digits of the hash in the name; 0 if the template's result is the name. */
  readonly hashLength: number;
}

function toCandidate(identity: ToolIdentity, template: NamingTemplate): Candidate {
  const filled = template.replace(/\{(server|tool)\}/g, (_, part: keyof ToolIdentity) => identity[part]);
  if (FITS.test(filled)) return { key: rawKey(identity), cleaned: filled, hashLength: 0 };
  const cleaned = filled.replace(/[^a-zA-Z0-9_-]/gu, '_');
  return { key: rawKey(identity), cleaned, hashLength: HASH_STEP };
}

function nameOf({ key, cleaned, hashLength }: Candidate): string {
  if (hashLength === 0) return cleaned;
  const digest = createHash('sha256').update(key, 'utf16le').digest('hex');
  const suffix = `_${digest.slice(0, hashLength)}`;
  return (cleaned.slice(0, Math.max(0, MAX_LENGTH - suffix.length)) + suffix).slice(-MAX_LENGTH);
}

/**
 * The names, in order, that these tools have if no two tools of the catalog share one. They depend only on the
 * arguments, so they can be kept.
 */
export function uncontestedNames(
  tools: readonly ToolIdentity[],
  template: NamingTemplate,
): readonly string[] {
  return tools.map((tool) => nameOf(toCandidate(tool, template)));
}

/** A name that was cut ends in a hash of nine characters; the part before it follows the template. */
const SURE_LENGTH = MAX_LENGTH - 1 - HASH_STEP;

/** Whether that name may belong to a tool of that server, whose tools are not known yet. */
export function mayBeOf(server: string, name: string, template: NamingTemplate): boolean {
  const start = template.slice(0, template.indexOf('{tool}')).replace('{server}', () => server);
  return name.startsWith(start.replace(/[^a-zA-Z0-9_-]/gu, '_').slice(0, SURE_LENGTH));
}

function groupByName(candidates: Iterable<Candidate>): Map<string, Candidate[]> {
  const groups = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    const name = nameOf(candidate);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [candidate]);
    else group.push(candidate);
  }
  return groups;
}

/**
 * The exposed name of every tool, by `rawKey`. The hash is the first 8 hex digits of the SHA-256 of the raw key in
 * UTF-16LE: in UTF-8 all lone surrogates look alike, so names that differ only in these would have equal hashes.
 *
 * A suffix can collide too, by chance or because a server chose its names to make it so. Each round therefore lengthens
 * the hash of all members of every collision, up to the whole digest, until every name is unique.
 */
export function exposedNames(tools: Iterable<ToolIdentity>, template: NamingTemplate): Map<string, string> {
  const candidates = new Map<string, Candidate>();
  for (const tool of tools) candidates.set(rawKey(tool), toCandidate(tool, template));

  for (;;) {
    const groups = groupByName(candidates.values());
    if (groups.size === candidates.size) {
      return new Map([...groups].flatMap(([name, group]) => group.map(({ key }) => [key, name])));
    }
    for (const group of groups.values()) {
      if (group.length === 1) continue;
      for (const candidate of group) {
        candidates.set(candidate.key, { ...candidate, hashLength: candidate.hashLength + HASH_STEP });
      }
    }
  }
}

/** Counts how many tools claim each name, to detect a collision without visiting all tools at every change. */
export class NameClaims {
  #lists: ReadonlySet<readonly string[]> = new Set();
  readonly #counts = new Map<string, number>();
  /** Claims beyond the first of each name. */
  #excess = 0;

  get areContested(): boolean {
    return this.#excess > 0;
  }

  /** Replaces the claims by these lists of names. A list object that was there before counts as unchanged. */
  become(lists: readonly (readonly string[])[]): void {
    const now = new Set(lists);
    for (const list of this.#lists) if (!now.has(list)) this.#count(list, -1);
    for (const list of now) if (!this.#lists.has(list)) this.#count(list, 1);
    this.#lists = now;
  }

  #count(names: readonly string[], by: 1 | -1): void {
    for (const name of names) {
      const before = this.#counts.get(name) ?? 0;
      const after = before + by;
      if (after === 0) this.#counts.delete(name);
      else this.#counts.set(name, after);
      this.#excess += Math.max(0, after - 1) - Math.max(0, before - 1);
    }
  }
}
