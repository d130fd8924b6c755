/** Whether a text consists of these pieces in order, with anything or nothing between them. Uses no regular expression. */
export function matchesSegments(text: string, pieces: readonly string[]): boolean {
  const [first = '', ...others] = pieces;
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let end = first.length;
  for (const piece of others) {
    const start = text.indexOf(piece, end);
    if (start === -1) return false;
    end = start + piece.length;
  }
  return end <= text.length - last.length;
}
