/**
 * How a connection comes from one entry to the next: at once, or by a session that is prepared beside the one in use.
 * Pure updates like those of `connection.update.ts`.
 */
import type { ConnectionContext, EntryTerms, PreparedSession, Settled } from './connection.events.js';
import { classify, type Failure } from './policy/failure.js';
import type { ConnectionPolicy } from './policy/policy.js';

type Update = Partial<ConnectionContext>;

/** From here on the entry is what it has become meanwhile. */
export function takeOver({ next }: ConnectionContext): Update {
  return { ...next, next: null, outdated: null };
}

/** The successor of the session in use gets a number of its own, which is never given again. */
export function planSuccessor(context: ConnectionContext, next: EntryTerms): Update {
  return { next, outdated: null, issued: context.issued + 1 };
}

/** The successor is the session in use, and the one before goes when its last calls have finished. */
export function succeed(context: ConnectionContext, prepared: PreparedSession & Settled): Update {
  return {
    ...takeOver(context),
    generation: context.issued,
    retiring: context.generation,
    configHash: prepared.configHash,
    transport: prepared.transport,
    pid: prepared.pid,
    url: prepared.url,
    server: prepared.server,
    catalogHash: prepared.catalogHash,
    counts: { tools: prepared.tools, resources: 0, resourceTemplates: 0, prompts: 0 },
    timings: prepared.timings,
    at: prepared.at,
  };
}

/**
 * Whether the new session can only be had in place of the one in use: a person has to be asked first, or the server
 * refuses a second `initialize` while it has the first session.
 */
export function mustTakeTurns(failure: Failure): boolean {
  const status = failure.phase === 'handshake' ? failure.http?.status : undefined;
  return classify(failure) === 'authorize' || status === 400 || status === 409;
}

export function applyReload({ transport, policy }: EntryTerms): Update {
  return { transport, policy, next: null, outdated: null };
}

/** Other numbers, also for the session that is to come. */
export function applyPolicy({ next }: ConnectionContext, policy: ConnectionPolicy): Update {
  return { policy, next: next === null ? null : { ...next, policy } };
}
