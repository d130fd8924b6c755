import type { TroupeOptions } from '../options.js';

/** The options with the stores of the fleet, except where the host gives its own. */
export function withFleet<T extends TroupeOptions>(options: T): T {
  const { fleet, auth, review, trustStore, cache } = options;
  if (fleet === undefined) return options;
  return {
    ...options,
    trustStore: trustStore ?? fleet.trust,
    cache: cache ?? fleet.catalogs,
    review: { store: fleet.reviews, ...(typeof review === 'string' ? { mode: review } : review) },
    ...(typeof auth === 'object' ? { auth: { store: fleet.tokens, ...auth } } : {}),
  };
}
