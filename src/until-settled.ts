/**
 * Waits until no connection is on its way any more.
 *
 * One that has failed is settled by that, also where it tries again by itself before the last of the others is settled:
 * many that do so now and then would hardly ever rest at the same moment.
 */
import type { Connection } from './connection.js';
import type { Publisher } from './lifecycle/publish.js';
import { isSettled } from './lifecycle/state-path.js';

export interface SettlingParts {
  readonly publisher: Pick<Publisher, 'onevent' | 'until'>;
  readonly connections: () => Iterable<Connection>;
}

/** Resolves when each is ready with its lists read, has ended or failed, rests or waits for a person. Rejects as `until`. */
export async function untilSettled(
  { publisher, connections }: SettlingParts,
  signal?: AbortSignal,
): Promise<void> {
  const failed = new Set<string>();
  for (const { name, state } of connections()) if (state === 'failed') failed.add(name);
  const unfollow = publisher.onevent((event) => {
    if (event.type === 'connection.failed') failed.add(event.connection);
    if (event.type === 'connection.added') failed.delete(event.connection);
  });
  const isOver = ({ name, path, isListing }: Connection): boolean => {
    if (isSettled(path)) return !isListing;
    return failed.has(name) && path.state !== 'failed';
  };
  try {
    await publisher.until(() => [...connections()].every(isOver), signal);
  } finally {
    unfollow();
  }
}
