/**
 * Trust of an entry that the person has just written with a command: they have seen all of it, so it needs no further
 * question.
 */
import { createFileTrustStore } from '../trust/trust-store.js';
import type { TrustRequest } from '../trust/trust-request.js';
import { discoverServers } from '../servers/discover.js';
import type { Flags } from './arguments/flags.js';
import { sourcesOf } from './configured-servers.js';

/** What a person would be asked about the server; undefined if it needs no trust, or has it. */
export async function waitingRequest(server: string, flags: Flags): Promise<TrustRequest | undefined> {
  const { heldBack, servers } = await discoverServers({
    ...sourcesOf(flags),
    config: flags.config,
    trustStore: createFileTrustStore(),
  });
  const waiting = [...heldBack, ...servers].find((entry) => entry.server === server && entry.trustRequest);
  return waiting?.trustRequest ?? undefined;
}

/** Trusts the server as it is now. Returns whether that was needed. */
export async function trustAsWritten(server: string, flags: Flags): Promise<boolean> {
  const request = await waitingRequest(server, flags);
  if (request === undefined) return false;
  await createFileTrustStore().trust(request);
  return true;
}
