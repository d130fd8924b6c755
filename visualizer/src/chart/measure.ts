/** The width of a text as this browser draws it. */

/** As in `chart.css`. */
const FAMILY = "Inter, 'Segoe UI', system-ui, Helvetica, Arial, sans-serif";
/** Scaled letters are a little wider. */
const AIR = 1.03;

let context: CanvasRenderingContext2D | null | undefined;

/** Width of bold text in whole pixels. */
export function boldWidth(text: string, size: number): number {
  context ??= document.createElement('canvas').getContext('2d');
  if (context === null) throw new Error('This browser cannot measure texts.');
  context.font = `700 ${size}px ${FAMILY}`;
  return Math.ceil(context.measureText(text).width * AIR);
}
