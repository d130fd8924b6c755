/** What a person is asked by one of the gateway's troupes and has decided for all of them. */
import type { ApprovalStore } from '../config/approval-store.js';
import type { TroupeOptions, TrustRequest } from '../options.js';

/** Each question is put once. */
export function askingOnce(
  ask: NonNullable<TroupeOptions['askInput']>,
): NonNullable<TroupeOptions['askInput']> {
  const answers = new Map<string, ReturnType<typeof ask>>();
  return (request) => {
    const key = [request.server, request.source, request.id].join('\0');
    if (!answers.has(key)) answers.set(key, ask(request));
    return answers.get(key);
  };
}

/** Asked once about each entry: a no holds as long as a yes. What could not be asked is asked again. */
export function decidingOnce(decide: (request: TrustRequest) => Promise<boolean> | boolean) {
  const decisions = new Map<string, Promise<boolean>>();
  return (request: TrustRequest): Promise<boolean> => {
    const { hash } = request;
    const known = decisions.get(hash);
    if (known !== undefined) return known;
    const deciding = (async () => decide(request))();
    decisions.set(hash, deciding);
    deciding.catch(() => decisions.delete(hash));
    return deciding;
  };
}

/** Tells each troupe what was approved at another. */
export function toldToAll(store: ApprovalStore): ApprovalStore {
  const listeners = new Set<() => void>();
  return {
    has: (hash) => store.has(hash),
    list: () => store.list(),
    revoke: (hash) => store.revoke(hash),
    approve: async (request) => {
      await store.approve(request);
      for (const tell of [...listeners]) tell();
    },
    watch: (onChange) => {
      listeners.add(onChange);
      const stop = store.watch?.(onChange);
      return () => {
        listeners.delete(onChange);
        stop?.();
      };
    },
  };
}
