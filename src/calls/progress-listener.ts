/** Tells a host's listener of progress. What it throws, at once or later, is a diagnostic and goes no further. */
import type { Publisher } from '../lifecycle/publish.js';
import type { Progress } from '../protocol/protocol-client.js';
import type { Session } from '../sessions.js';
import { messageOf } from '../thrown.js';

/** `what` is named where it throws, as in 'call 7'. */
export function tellListener(
  { publish }: Pick<Publisher, 'publish'>,
  { key }: Pick<Session, 'key'>,
  what: string,
  listener: ((progress: Progress) => void) | undefined,
  progress: Progress,
): void {
  const heard = async (): Promise<void> => listener?.(progress);
  heard().catch((error: unknown) => {
    const message = `The progress callback of ${what} threw: ${messageOf(error)}`;
    const { name: connection, generation } = key;
    publish({ type: 'diagnostic', connection, generation, kind: 'progress-callback', message });
  });
}
