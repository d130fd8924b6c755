/**
 * How a connection changes from one entry to the next: at once, or by a session that is prepared beside the one in use.
 * Pure updates, like those in `connection.update.ts`.
 */
import type {
  ConnectionContext,
  EntryTerms,
  HandshakeOutput,
  OpenTransportOutput,
} from './connection.events.js';
import { eraOf, type Era } from '../policy/protocol-era.js';
import { classify, type Failure } from '../policy/failure.js';
import type { ConnectionPolicy } from '../policy/policy.js';

type Update = Partial<ConnectionContext>;

/** The latest version of the entry counts from now on. */
export function applyNext({ next }: ConnectionContext): Update {
  return { ...next, next: null };
}

/** The successor gets a generation of its own, which is never issued again. */
export function planSuccessor({ issued }: ConnectionContext, next: EntryTerms): Update {
  return { next, issued: issued + 1 };
}

/** The policy that the successor is prepared with. */
export function comingPolicy({ next, policy }: ConnectionContext): ConnectionPolicy {
  return next?.policy ?? policy;
}

/** The transport in use may differ from the entry's: HTTP may fall back to SSE. */
export function recordSuccessorOpened(
  { next }: ConnectionContext,
  { at, url, transport }: OpenTransportOutput,
): Update {
  return { at, url, next: next && { ...next, transport } };
}

/** The era of the session that was opened. A log may hold an output without a server. */
export function eraIn({ server }: Partial<HandshakeOutput>): Era {
  return eraOf(server?.protocolVersion);
}

export function recordSuccessorEra({ next }: ConnectionContext, output: HandshakeOutput): Update {
  return { next: next && { ...next, era: eraIn(output) } };
}

/** The successor is now in use; the former session ends when its last calls have finished. */
export function switchSession(context: ConnectionContext): Update {
  return { ...applyNext(context), generation: context.issued, retiring: context.generation };
}

/**
 * Whether the new session can only replace the one in use and not run beside it: a person must sign in first, or the
 * server refuses a second `initialize` while it has the first session. If nobody can sign in, giving up the session in
 * use would gain nothing.
 */
export function mustTakeTurns(failure: Failure): boolean {
  const status = failure.phase === 'handshake' ? failure.http?.status : undefined;
  const awaitsSignIn = classify(failure) === 'authorize' && failure.canSignIn !== false;
  return awaitsSignIn || status === 400 || status === 409;
}

export function applyReload({ transport, policy }: EntryTerms): Update {
  return { transport, policy, next: null };
}

/** The policy has changed, for the coming session as well. */
export function applyPolicy({ next }: ConnectionContext, policy: ConnectionPolicy): Update {
  return { policy, next: next === null ? null : { ...next, policy } };
}
