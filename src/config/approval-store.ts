/**
 * Where approvals of entries of project files are remembered: the port, and a store that lives as long as the process.
 *
 * An approval is known by the hash of its request, so that an entry that was changed is asked about again.
 */
import type { TrustRequest } from '../options.js';

/** What was approved: enough to recognize it. */
export type Approval = Pick<TrustRequest, 'hash' | 'server' | 'source' | 'folder'>;

/**
 * What rejects counts as not approved, and is told as a `diagnostic`. Where several processes share a store, none may
 * take away what another one wrote.
 */
export interface ApprovalStore {
  /** Whether the request with this hash was approved. Asked before every attempt to start a server that needs it. */
  has(hash: string): Promise<boolean> | boolean;
  /** Everything that was approved. Asked when the configuration is read. */
  list(): Promise<readonly Approval[]> | readonly Approval[];
  approve(request: TrustRequest): Promise<void> | void;
  /** What was not approved is no error. */
  revoke(hash: string): Promise<void> | void;
  /**
   * Tells of approvals that came from elsewhere; ends with the function it gives back. Without it they count for the
   * next attempt.
   */
  watch?(onChange: () => void): () => void;
}

/** Approvals that are forgotten with the process. */
export function createMemoryApprovalStore(): ApprovalStore {
  const approvals = new Map<string, Approval>();
  return {
    has: (hash) => approvals.has(hash),
    list: () => [...approvals.values()],
    approve: (request) => void approvals.set(request.hash, toApproval(request)),
    revoke: (hash) => void approvals.delete(hash),
  };
}

/** Without what is only there to be shown to whoever approves. */
export function toApproval({ hash, server, source, folder }: Approval): Approval {
  return { hash, server, source, folder };
}
