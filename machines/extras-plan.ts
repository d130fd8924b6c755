/** Which of the lists beside the tools are read, and which are to be read next. Pure. */
import type { ExtraList, ExtrasPlan } from './connection.events.js';

const EVERY_LIST: readonly ExtraList[] = ['resources', 'prompts'];

/** Where nothing was told to have changed, everything is read. */
export const EVERYTHING: ExtrasPlan = { listing: EVERY_LIST, due: [], dueSince: null };

export function beginListing({ due }: ExtrasPlan): ExtrasPlan {
  return { ...EVERYTHING, listing: due.length === 0 ? EVERY_LIST : due };
}

export function noteChanged(plan: ExtrasPlan, list: ExtraList, at: number): ExtrasPlan {
  const due = EVERY_LIST.filter((each) => each === list || plan.due.includes(each));
  return { ...plan, due, dueSince: plan.dueSince ?? at };
}

/** Whoever asks for a list asks for all of them. */
export function forgetChanged(plan: ExtrasPlan): ExtrasPlan {
  return { ...plan, due: [], dueSince: null };
}
