/** The width of a text as this browser draws it; without a browser, as in a test, an estimate. */
import { textWidth } from '../../../src/charts/text-width.js';

/** As in `chart.css`. */
const FAMILY = "Inter, 'Segoe UI', system-ui, Helvetica, Arial, sans-serif";
/** Scaled letters are a little wider. */
const AIR = 1.03;

let context: CanvasRenderingContext2D | null | undefined;

/** Width in whole pixels, as bold text. */
export function boldWidth(text: string, size: number): number {
  if (typeof document === 'undefined') return textWidth(text, size, true);
  context ??= document.createElement('canvas').getContext('2d');
  if (context === null) return textWidth(text, size, true);
  context.font = `700 ${size}px ${FAMILY}`;
  return Math.ceil(context.measureText(text).width * AIR);
}
