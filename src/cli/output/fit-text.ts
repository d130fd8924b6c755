/**
 * Fits text to columns of a terminal. Counts visible columns: wide characters take two, combining marks none. Expects
 * clean text without colors.
 */
import stringWidth from 'string-width';

const MORE = '…';
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** The text, or its start and an ellipsis if it is wider than `width` columns. */
export function truncate(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  if (width < 1) return '';
  let kept = '';
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    used += stringWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return kept + MORE;
}

/** Exactly `width` columns: padded with spaces, or truncated. */
export function fit(text: string, width: number): string {
  const shown = truncate(text, width);
  return shown + ' '.repeat(Math.max(0, width - stringWidth(shown)));
}
