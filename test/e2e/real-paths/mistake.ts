/** A mistake in the runtime itself: what tells a new session what it is to know, and never fails, fails. */
import { setTimeout as pause } from 'node:timers/promises';

export const mistake = { isMade: false };

export async function fail(): Promise<never> {
  await pause(100);
  throw new Error('a mistake');
}
