/** How large a picture is shown in a place that scrolls, and which part of it. */
export const LARGEST = 8;
export const STEP = 1.5;

export interface Place {
  readonly clientWidth: number;
  readonly clientHeight: number;
  scrollLeft: number;
  scrollTop: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export const bounded = (scale: number): number => Math.min(LARGEST, Math.max(1, scale));

export const middleOf = ({ clientWidth, clientHeight }: Place): Point => ({
  x: clientWidth / 2,
  y: clientHeight / 2,
});

/** Where the place has to scroll to, so that what is at `point` of it stays there when the picture grows by `factor`. */
export function keptAt(place: Place, point: Point, factor: number): { left: number; top: number } {
  return {
    left: (place.scrollLeft + point.x) * factor - point.x,
    top: (place.scrollTop + point.y) * factor - point.y,
  };
}
