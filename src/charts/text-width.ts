/**
 * Estimates the width of a text without a screen. The widths are Helvetica's, in thousandths of the font size, with a
 * margin, so that a picture fits in any sans-serif font.
 */
const WIDTHS: Readonly<Record<string, number>> = {
  ' ': 278,
  '!': 278,
  '(': 333,
  ')': 333,
  '*': 389,
  ',': 278,
  '-': 333,
  '.': 278,
  '/': 278,
  ':': 278,
  '[': 278,
  ']': 278,
  _: 556,
  f: 278,
  i: 222,
  j: 222,
  l: 222,
  m: 833,
  r: 333,
  t: 278,
  w: 722,
  '→': 1000,
  c: 500,
  k: 500,
  s: 500,
  v: 500,
  x: 500,
  y: 500,
  z: 500,
  A: 667,
  B: 667,
  C: 722,
  D: 722,
  E: 667,
  F: 611,
  G: 778,
  H: 722,
  I: 278,
  K: 667,
  M: 833,
  N: 722,
  O: 778,
  P: 667,
  Q: 778,
  R: 722,
  S: 667,
  U: 722,
  V: 667,
  W: 944,
  X: 667,
  Y: 667,
};
const OTHERWISE = 556;
const AIR = 1.08;
const BOLD = 1.06;

/** Width in whole pixels. */
export function textWidth(text: string, size: number, bold = false): number {
  const units = Array.from(text, (character) => WIDTHS[character] ?? OTHERWISE).reduce(
    (sum, width) => sum + width,
    0,
  );
  return Math.ceil((units / 1000) * size * AIR * (bold ? BOLD : 1));
}
