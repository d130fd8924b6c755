/**
 * The message of a thrown value, which may be anything. Nothing here throws.
 *
 * The folder `text` holds helpers for strings. They know nothing of MCP and do no input or output.
 */

/** The message of an error; any other value as text, if it can be converted. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return 'no reason was given';
  }
}

/** The thrown error, or an error with the thrown value as its message. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(messageOf(thrown));
}
