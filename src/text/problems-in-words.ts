/** A message lists this many problems, and counts the others. */
const MAX_LISTED = 5;

/** The first problems of a value as one text. `whole` is the word for an empty path. */
export function problemsInWords(
  problems: readonly { readonly path: string; readonly message: string }[],
  whole: string,
): string {
  const listed = problems.slice(0, MAX_LISTED).map(({ path, message }) => `${path || whole} ${message}`);
  const others = problems.length - listed.length;
  return listed.join('; ') + (others > 0 ? `; and ${others} more` : '');
}
