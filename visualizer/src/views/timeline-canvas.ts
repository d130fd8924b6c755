/**
 * Draws lanes, bars and marks, and on a canvas above them the moving parts: the shown moment and the selection. Owns
 * colors and shapes; does not know the meaning of a click.
 */
import { isFailed, type CallView } from '../calls/call-views.js';
import { toneOf } from '../chart/arrangements.js';
import type { Category } from '../log/labels.js';
import { stateValueWords, stateWords } from '../log/state-words.js';
import { isConnectionLane } from '../log/lane-names.js';
import { rowHeight } from '../parts/media.js';
import type { StretchView } from '../log/desk-messages.js';
import { publicState } from '../../../machines/connection/public-state.js';
import type { TimeWindow } from '../state/page.js';
import { clockTime, Times } from '../state/times.js';
import { ticksOf } from './time-ticks.js';

export const LANE = rowHeight(30);
export const AXIS = 26;

export interface Scene {
  readonly window: TimeWindow;
  /** The visible lanes; `top` is the position of the first one. */
  readonly view: StretchView | undefined;
  readonly names: readonly string[];
  readonly top: number;
  readonly selected: string;
  /** Whether states have their own names instead of words. */
  readonly isRaw: boolean;
}

export interface Overlay {
  readonly window: TimeWindow;
  /** Time of the shown moment; null at the end. */
  readonly cursor: number | null;
  /** The selection, as times. */
  readonly brush: TimeWindow | null;
  /** The followed call, and the top of its lane. */
  readonly span: { readonly call: CallView; readonly top: number } | null;
}

const DAY = 86_400e3;
const MIDNIGHT = '00:00:00.000';
const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3,
  1_800e3, 3_600e3, 7_200e3, 14_400e3, 21_600e3, 43_200e3, 86_400e3, 172_800e3, 604_800e3,
];

export function drawTimeline(canvas: HTMLCanvasElement, scene: Scene): void {
  const pen = penFor(canvas, scene.window);
  if (pen === undefined) return;
  const { context, width, height } = pen;
  drawGrid(pen, scene);
  context.save();
  context.beginPath();
  context.rect(0, AXIS, width, height - AXIS);
  context.clip();
  scene.names.forEach((name, index) => drawLane(pen, scene, name, AXIS + scene.top + index * LANE));
  context.restore();
}

export function drawOverlay(canvas: HTMLCanvasElement, overlay: Overlay): void {
  const pen = penFor(canvas, overlay.window);
  if (pen === undefined) return;
  drawBrush(pen, overlay);
  if (overlay.span !== null) drawSpan(pen, overlay.span);
  drawCursor(pen, overlay);
}

/** For an empty canvas. Undefined if no context is available. */
function penFor(canvas: HTMLCanvasElement, { from, to }: TimeWindow): Pen | undefined {
  // The processor draws small shapes faster than a graphics card that does not exist.
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) return undefined;
  const scale = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  const style = getComputedStyle(canvas);
  const color = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const xOf = (at: number): number => ((at - from) / Math.max(1e-6, to - from)) * width;
  return { context, width, height, color, xOf };
}

interface Pen {
  readonly context: CanvasRenderingContext2D;
  readonly width: number;
  readonly height: number;
  readonly color: (name: string) => string;
  readonly xOf: (at: number) => number;
}

function drawGrid({ context, width, height, color, xOf }: Pen, { window: { from, to } }: Scene): void {
  const step = STEPS.find((each) => ((to - from) / each) * 96 < width) ?? 2_592_000e3;
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  const times = new Times(from, to);
  /** The next free position, and the last day that was written. */
  let [free, day] = [0, ''];
  for (const at of ticksOf(from, to, step)) {
    const x = Math.round(xOf(at)) + 0.5;
    context.strokeStyle = color('line-faint');
    context.beginPath();
    context.moveTo(x, AXIS - 4);
    context.lineTo(x, height);
    context.stroke();
    const today = times.day(at);
    const words = tickWords(at, step, today === day ? '' : today);
    const end = x + context.measureText(words).width + 8;
    if (x < free || end >= width) continue;
    context.fillStyle = color('muted');
    context.fillText(words, x + 4, AXIS / 2);
    [free, day] = [end, today];
  }
  context.strokeStyle = color('border');
  context.beginPath();
  context.moveTo(0, AXIS - 0.5);
  context.lineTo(width, AXIS - 0.5);
  context.stroke();
}

/** `day` is empty if it needs no label. A tick at the start of a day shows the day instead. */
function tickWords(at: number, step: number, day: string): string {
  const text = clockTime(at);
  if (day !== '' && (step >= DAY || text === MIDNIGHT)) return day;
  const time = step >= 60e3 ? text.slice(0, 5) : step >= 1e3 ? text.slice(0, 8) : text;
  return day === '' ? time : `${day} ${time}`;
}

function drawLane(pen: Pen, { view, selected, isRaw }: Scene, name: string, top: number): void {
  const { context, width, color, xOf } = pen;
  if (name === selected) {
    context.fillStyle = color('selected');
    context.fillRect(0, top, width, LANE);
  }
  context.fillStyle = color('line-faint');
  context.fillRect(0, top + LANE - 1, width, 1);
  const stretch = view?.stretches.find((each) => each.name === name);
  if (view === undefined || stretch === undefined) return;
  for (const { value, from, to } of stretch.bars) {
    const x = Math.max(0, xOf(from));
    const end = Math.min(width, Math.max(xOf(to), x + 1));
    if (end <= 0 || x >= width) continue;
    const state = view.values[value] ?? '';
    const path = publicState(state);
    const tone = toneOf(path.state);
    context.fillStyle = color(`fill-${tone}`);
    context.fillRect(x, top + 6, end - x - (end - x > 4 ? 1 : 0), LANE - 12);
    if (end - x > 3) {
      context.fillStyle = color(`tone-${tone}`);
      context.fillRect(x, top + 6, 2, LANE - 12);
    }
    const words = isConnectionLane(name)
      ? stateWords(name, path, isRaw)
      : stateValueWords(name, state, isRaw);
    const fitting = [words, words.split(',')[0] ?? ''].find(
      (text) => context.measureText(text).width + 14 < end - x,
    );
    if (fitting === undefined) continue;
    context.fillStyle = color('ink');
    context.fillText(fitting, x + 8, top + LANE / 2);
  }
  for (const { at, categories, count } of stretch.marks)
    drawMark(pen, categories[0] ?? 'other', count, xOf(at), top);
}

/** A shape for each category, so that they do not differ in color alone. */
function drawMark({ context, color }: Pen, category: Category, count: number, x: number, top: number): void {
  const y = top + LANE / 2;
  context.fillStyle = color(`mark-${category}`);
  context.strokeStyle = color('page');
  context.lineWidth = 1.5;
  context.beginPath();
  if (category === 'failure') {
    context.moveTo(x, top + 3);
    context.lineTo(x + 5, top + 12);
    context.lineTo(x - 5, top + 12);
    context.closePath();
  } else if (category === 'rejection') {
    context.rect(x - 4, top + 3, 8, 8);
  } else if (category === 'list') {
    context.moveTo(x, y + 3);
    context.lineTo(x + 5, y + 8);
    context.lineTo(x, y + 13);
    context.lineTo(x - 5, y + 8);
    context.closePath();
  } else context.arc(x, y + 8, count > 1 ? 3.5 : 2.5, 0, Math.PI * 2);
  context.stroke();
  context.fill();
  context.lineWidth = 1;
}

function drawBrush({ context, height, color, xOf }: Pen, { brush }: Overlay): void {
  if (brush === null) return;
  const [from, to] = [xOf(brush.from), xOf(brush.to)];
  context.fillStyle = color('brush');
  context.fillRect(Math.min(from, to), AXIS, Math.abs(to - from), height - AXIS);
}

/** A bracket from the start of the call to its end, with a tick at each of its steps. */
function drawSpan({ context, width, color, xOf }: Pen, { call, top }: NonNullable<Overlay['span']>): void {
  const [from, to] = [xOf(call.from), xOf(call.to)];
  if (top < AXIS - LANE || to < 0 || from > width) return;
  context.fillStyle = color(isFailed(call) ? 'tone-bad' : 'accent');
  context.fillRect(from, top + LANE - 5, Math.max(2, to - from), 3);
  for (const { at } of call.steps) context.fillRect(xOf(at) - 0.75, top + 3, 1.5, LANE - 5);
}

function drawCursor({ context, width, height, color, xOf }: Pen, { cursor, window: { to } }: Overlay): void {
  const x = Math.min(width - 1, Math.round(xOf(cursor ?? to)));
  if (x < 0) return;
  context.fillStyle = color(cursor === null ? 'live' : 'past');
  context.fillRect(x - 1, 0, 2, height);
  context.beginPath();
  context.moveTo(x - 6, 0);
  context.lineTo(x + 6, 0);
  context.lineTo(x, 8);
  context.closePath();
  context.fill();
}
