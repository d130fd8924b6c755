/** Tells sessions something that is no request. */
import type { Session } from '../sessions.js';

/** What is told to a session that ends meanwhile is of no use to anybody. */
export async function tellSessions(sessions: readonly Session[], method: string): Promise<void> {
  const tell = async ({ client }: Session): Promise<void> => client?.notify(method);
  await Promise.allSettled(sessions.map(tell));
}
