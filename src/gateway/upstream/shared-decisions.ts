/** Decisions of a person that one troupe of the gateway asks for and that apply to all of them. */
import type { TrustStore } from '../../trust/trust-store.js';
import type { TroupeOptions } from '../../options.js';
import type { TrustRequest } from '../../trust/trust-request.js';

/** Asks each question once. */
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

/** Asks once about each entry: a no lasts as long as a yes. A failed question is asked again. */
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

/** Notifies each troupe of trust that was granted in another. */
export function notifyingStore(store: TrustStore): TrustStore {
  const listeners = new Set<() => void>();
  return {
    has: (hash) => store.has(hash),
    list: () => store.list(),
    revoke: (hash) => store.revoke(hash),
    trust: async (request) => {
      await store.trust(request);
      for (const listener of [...listeners]) listener();
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
