/**
 * The names of states in a picture that is too small for its texts. A name is as large as a person can read, and stands
 * where it covers no other name: above the states inside its own, or across them if they get none.
 */
import type { PlacedBox, PlacedChart, Rect } from './chart-layout.js';
import { boldWidth } from './measure.js';

export interface FarName {
  readonly x: number;
  /** The baseline. */
  readonly y: number;
}

const PAD = 4;
const LINE = 1.25;

/** By id of the state, for letters of that size. A state without a place for its name has none. */
export function farNames({ boxes }: Pick<PlacedChart, 'boxes'>, size: number): ReadonlyMap<string, FarName> {
  const names = new Map<string, FarName>();
  const isCovered = new Set<string>();
  for (const box of boxes) {
    const { state, title } = box;
    if (isCovered.has(state.id)) continue;
    const width = boldWidth(title, size);
    const fits = (place: Rect): boolean => width + 2 * PAD <= place.width && size * LINE <= place.height;
    const place = [headOf(box, boxes), box].find(fits);
    if (place === undefined) continue;
    if (place === box)
      for (const { state: inner } of boxes) if (isInside(inner.id, state.id)) isCovered.add(inner.id);
    names.set(state.id, {
      x: place.x + (place.width - width) / 2,
      y: place.y + place.height / 2 + size * 0.35,
    });
  }
  return names;
}

const isInside = (id: string, outer: string): boolean => id.startsWith(`${outer}.`);

/** The part of a box that is above the states inside it. */
function headOf(box: PlacedBox, boxes: readonly PlacedBox[]): Rect {
  const inner = boxes.filter(({ state }) => isInside(state.id, box.state.id));
  const { x, y, width, height } = box;
  return { x, y, width, height: Math.min(height, ...inner.map((each) => each.y - y)) };
}
