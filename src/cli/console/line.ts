/** Lines of the screen: text in several looks, none wider than the terminal. Pure. */
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { truncate } from '../output/fit-text.js';
import type { Colors } from '../output/terminal.js';

export type Look = 'plain' | 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Clean text without colors, on one line. */
export interface Span {
  readonly text: string;
  /** Default: plain. */
  readonly look?: Look;
}

export type Line = readonly Span[];

export function line(text: string, look: Look = 'plain'): Line {
  return [{ text, look }];
}

/** The text in as many lines as it needs; clean, without colors. */
export function wrapped(text: string, width: number, look: Look = 'plain'): readonly Line[] {
  return wrapAnsi(text, Math.max(1, width), { hard: true, trim: false })
    .split('\n')
    .map((part) => line(part, look));
}

/** The line with colors, cut to the width. */
export function paint(spans: Line, width: number, colors: Colors): string {
  let left = width;
  let painted = '';
  for (const { text, look = 'plain' } of spans) {
    const shown = truncate(text, left);
    left -= stringWidth(shown);
    painted += look === 'plain' || shown === '' ? shown : colors[look](shown);
    if (shown !== text) break;
  }
  return painted;
}
