/** Simulates a bug in the runtime: makes code fail that never fails. */
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

/** Where the bug is: in restoring the state of a new session, or in adopting its list of tools. */
type Place = 'restoring' | 'adopting';

let place: Place | undefined;

/** Lasts until the end of the test, or until the next call. */
export function make(mistake: Place | undefined): void {
  place = mistake;
  onTestFinished(() => void (place = undefined));
}

export const isMade = (mistake: Place): boolean => place === mistake;

export async function failSoon(): Promise<never> {
  await pause(100);
  return fail();
}

export function fail(): never {
  throw new Error('a mistake');
}
