/** Of more problems than these a message only tells how many there are. */
const MOST_TOLD = 5;

/** The first few problems of a value as one text. `whole` is what an empty path stands for. */
export function problemsInWords(
  problems: readonly { readonly path: string; readonly message: string }[],
  whole: string,
): string {
  const told = problems.slice(0, MOST_TOLD).map(({ path, message }) => `${path || whole} ${message}`);
  const untold = problems.length - told.length;
  return told.join('; ') + (untold > 0 ? `; and ${untold} more` : '');
}
