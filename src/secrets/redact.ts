/** The mask of the host, for secrets that only the host knows. */
import { MASK } from '../config/entry/mask.js';
import { NO_MASK, type Mask } from './secrets.js';

/** A mask that always gives a text and never throws: what the hook fails on is masked as a whole. */
export function toRedact(hook: Mask | undefined, failed: (why: string) => void): Mask {
  if (hook === undefined) return NO_MASK;
  return (text) => {
    const redacted = outcomeOf(hook, text);
    if (typeof redacted === 'string') return redacted;
    failed(redacted.why);
    return MASK;
  };
}

/** Says nothing of the error: its message may hold the text. */
function outcomeOf(hook: (text: string) => unknown, text: string): string | { readonly why: string } {
  try {
    const redacted = hook(text);
    if (typeof redacted === 'string') return redacted;
    if (redacted instanceof Promise) redacted.catch(() => {});
    return { why: 'did not return a text' };
  } catch {
    return { why: 'threw an error' };
  }
}
