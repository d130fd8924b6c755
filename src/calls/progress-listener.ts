/** Calls a host's progress listener. If it throws or rejects, that becomes a diagnostic and has no other effect. */
import type { Publisher } from '../lifecycle/publish.js';
import type { Progress } from '../protocol/protocol-client.js';
import type { Session } from '../sessions/sessions.js';
import { messageOf } from '../text/error-message.js';

/** `what` names the request in that diagnostic, such as 'call 7'. */
export function notifyProgress(
  { publish }: Pick<Publisher, 'publish'>,
  { key }: Pick<Session, 'key'>,
  what: string,
  listener: ((progress: Progress) => void) | undefined,
  progress: Progress,
): void {
  const heard = async (): Promise<void> => listener?.(progress);
  heard().catch((error: unknown) => {
    const message = `The progress callback of ${what} threw: ${messageOf(error)}`;
    const { name: server, generation } = key;
    publish({ type: 'diagnostic', server, generation, kind: 'progress-callback', message });
  });
}
