/**
 * Waits until every connection is settled.
 *
 * A connection that has failed counts as settled, even if it tries again before the others are settled: many connections
 * that retry now and then would hardly ever be settled at the same moment.
 */
import { hasTag } from '../../machines/connection/connection.states.js';
import type { Connection } from '../servers/connection.js';
import type { Publisher } from '../lifecycle/publish.js';

export interface SettlingParts {
  readonly publisher: Pick<Publisher, 'onevent' | 'until'>;
  readonly connections: () => Iterable<Connection>;
}

/** Resolves when each connection is ready with its lists read, has ended or failed, is dormant or waits for a person. */
export async function untilSettled(
  { publisher, connections }: SettlingParts,
  signal?: AbortSignal,
): Promise<void> {
  const failed = new Set<string>();
  for (const { name, state } of connections()) if (state === 'failed') failed.add(name);
  const unfollow = publisher.onevent((event) => {
    if (event.type === 'connection.failed') failed.add(event.server);
    if (event.type === 'connection.added') failed.delete(event.server);
  });
  const isOver = ({ name, present }: Connection): boolean => {
    if (hasTag(present, 'settled')) return !hasTag(present, 'enriching');
    return failed.has(name) && present.state !== 'failed';
  };
  try {
    await publisher.until(() => [...connections()].every(isOver), signal);
  } finally {
    unfollow();
  }
}
