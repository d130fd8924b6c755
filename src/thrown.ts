/** What somebody has thrown, which may be anything. None of this throws itself. */

/** The message of an error; of anything else what it is as a text, where it can be one. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return 'no reason was given';
  }
}

/** The error that it is, or one that tells of it. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(messageOf(thrown));
}
