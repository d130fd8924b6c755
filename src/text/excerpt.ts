/** The first and the last lines, with the number of the omitted ones between them. */
export function excerptOf(lines: readonly string[], limit: number): readonly string[] {
  if (lines.length <= limit) return lines;
  const first = Math.floor(limit / 3);
  const last = limit - first - 1;
  return [...lines.slice(0, first), `… ${lines.length - first - last} more lines …`, ...lines.slice(-last)];
}
