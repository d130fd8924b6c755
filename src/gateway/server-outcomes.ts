/** What became of each server, in few words: for the `_meta` of lists, and for who wants all servers or none. */
import type { ServerStatus } from '../lifecycle/status.js';
import { RpcError } from '../protocol/protocol-client.js';
import { RPC } from './client-message.js';

/** The key in the `_meta` of a list. */
export const SERVERS_META = 'mcp-troupe/servers';

export interface ServerOutcome {
  readonly state: ServerStatus['state'];
  /** Of the failure: stable, for programs. */
  readonly code?: string;
  /** Of the failure: for people. */
  readonly message?: string;
}

export function outcomesOf(statuses: readonly ServerStatus[]): Readonly<Record<string, ServerOutcome>> {
  return Object.fromEntries(statuses.map((status) => [status.name, outcomeOf(status)]));
}

/** Those that do not work; one that rests, or is switched off, is none of them. */
export function notWorking(statuses: readonly ServerStatus[]): readonly ServerStatus[] {
  return statuses.filter(
    ({ state, substate }) => state !== 'ready' && state !== 'stopped' && substate !== 'dormant',
  );
}

/** Says which servers do not work, where some do not. */
export function whyNotAll(statuses: readonly ServerStatus[]): RpcError | undefined {
  const missing = notWorking(statuses);
  if (missing.length === 0) return undefined;
  const names = missing.map(({ name }) => name).join(', ');
  return new RpcError(RPC.serverError, `Not every server works: ${names}.`, { servers: outcomesOf(missing) });
}

function outcomeOf({ state, substate, error }: ServerStatus): ServerOutcome {
  if (state === 'ready') return { state };
  if (error !== null) return { state, code: error.code, message: error.message };
  return substate === 'awaitingTrust' || substate === 'authorizing'
    ? { state, code: WAITS_FOR[substate] }
    : { state };
}

const WAITS_FOR = { awaitingTrust: 'approval-needed', authorizing: 'sign-in-needed' } as const;
