/** The view of a picture: pan, zoom, fit; by pointer, wheel, two fingers and keys. */
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { SIZE, type Rect } from './chart-layout.js';

export interface Camera {
  /** Position of the picture's corner, in pixels of the box. */
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

export interface Lens {
  readonly camera: Camera;
  /** Size of the box, pixels. */
  readonly size: { readonly width: number; readonly height: number };
  /** Whether it shows the whole picture or follows the focus, until a person moves it. */
  readonly mode: 'fit' | 'follow' | 'free';
  readonly fit: () => void;
  readonly follow: () => void;
  readonly zoomBy: (factor: number, x?: number, y?: number) => void;
  readonly panBy: (x: number, y: number) => void;
  /** Centers that place of the picture. */
  readonly lookAt: (x: number, y: number, zoom?: number) => void;
  /**
   * Brings that part of the picture into view, or the start of a part that is too large. Moves nothing if it is
   * visible.
   */
  readonly reveal: (part: Rect) => void;
}

const SMALLEST = 0.04;
const LARGEST = 4;
const MARGIN = 24;
/** At a smaller zoom, the smallest text of a chart is below eleven pixels. */
const READABLE = 11 / SIZE.text;

/** `focus` is the part to keep in view: the active state. */
export function useCamera(
  box: RefObject<HTMLElement>,
  picture: { readonly width: number; readonly height: number } | undefined,
  focus: Rect | undefined,
): Lens {
  const [camera, setCamera] = useState<Camera>({ x: 0, y: 0, zoom: 1 });
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [mode, setMode] = useState<Lens['mode']>('follow');

  const clamp = (zoom: number): number => Math.min(LARGEST, Math.max(SMALLEST, zoom));
  /** Shows the whole picture, or at least this zoom around the focus. */
  function show(smallest: number): void {
    if (picture === undefined || size.width === 0) return;
    const whole = Math.min(
      1.3,
      (size.width - 2 * MARGIN) / picture.width,
      (size.height - 2 * MARGIN) / picture.height,
    );
    const zoom = clamp(Math.max(whole, smallest));
    const { x, y, width, height } = focus ?? { x: 0, y: 0, ...picture };
    // Of a part that is larger than the box, the start is shown.
    const middle = (start: number, length: number, room: number): number =>
      start * zoom + Math.min(length * zoom, room - 2 * MARGIN) / 2;
    setCamera({
      zoom,
      x: placed(size.width, picture.width * zoom, middle(x, width, size.width)),
      y: placed(size.height, picture.height * zoom, middle(y, height, size.height)),
    });
  }
  function fit(): void {
    setMode('fit');
    show(0);
  }
  function follow(): void {
    setMode('follow');
    show(READABLE);
  }
  function zoomBy(factor: number, x = size.width / 2, y = size.height / 2): void {
    setMode('free');
    setCamera((before) => {
      const zoom = clamp(before.zoom * factor);
      const ratio = zoom / before.zoom;
      return { zoom, x: x - (x - before.x) * ratio, y: y - (y - before.y) * ratio };
    });
  }
  function panBy(x: number, y: number): void {
    setMode('free');
    setCamera((before) => ({ ...before, x: before.x + x, y: before.y + y }));
  }
  function lookAt(x: number, y: number, zoom = camera.zoom): void {
    setMode('free');
    setCamera({ zoom, x: size.width / 2 - x * zoom, y: size.height / 2 - y * zoom });
  }

  function reveal(part: Rect): void {
    const { x, y, zoom } = camera;
    const width = Math.min(part.width, (size.width - 2 * MARGIN) / zoom);
    const height = Math.min(part.height, (size.height - 2 * MARGIN) / zoom);
    const [left, top] = [x + part.x * zoom, y + part.y * zoom];
    const isInSight =
      left >= 0 && top >= 0 && left + width * zoom <= size.width && top + height * zoom <= size.height;
    if (!isInSight) lookAt(part.x + width / 2, part.y + height / 2);
  }

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() =>
      setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  useEffect(() => {
    if (mode !== 'free') show(mode === 'fit' ? 0 : READABLE);
  }, [size.width, size.height, picture, focus?.x, focus?.y]);

  const lens = { camera, size, mode, fit, follow, zoomBy, panBy, lookAt, reveal };
  const latest = useRef(lens);
  latest.current = lens;
  useEffect(() => {
    const element = box.current;
    return element === null ? undefined : followPointers(element, () => latest.current);
  }, [box]);
  return lens;
}

/** The origin of a picture that centers a place of it, with at most a margin beside it. */
function placed(room: number, picture: number, place: number): number {
  if (picture + 2 * MARGIN <= room) return (room - picture) / 2;
  return Math.min(MARGIN, Math.max(room - picture - MARGIN, room / 2 - place));
}

function followPointers(element: HTMLElement, lens: () => Lens): () => void {
  const pointers = new Map<number, { x: number; y: number }>();
  const corner = (): DOMRect => element.getBoundingClientRect();
  const listening = new AbortController();
  const { signal } = listening;

  function wheel(event: WheelEvent): void {
    // If the page scrolls as a whole, the wheel must scroll it past the picture.
    if (!event.ctrlKey && getComputedStyle(document.body).overflowY !== 'hidden') return;
    event.preventDefault();
    const { left, top } = corner();
    const strength = event.ctrlKey ? 0.01 : 0.0015;
    lens().zoomBy(Math.exp(-event.deltaY * strength), event.clientX - left, event.clientY - top);
  }
  function down(event: PointerEvent): void {
    if (event.target instanceof Element && event.target.closest('button, .minimap') !== null) return;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  }
  function move(event: PointerEvent): void {
    const before = pointers.get(event.pointerId);
    if (before === undefined) return;
    // The button was released over an element that does not report it, such as a menu.
    if (event.buttons === 0) return up(event);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    const now = { x: event.clientX, y: event.clientY };
    if (other === undefined) {
      if (!element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
      lens().panBy(now.x - before.x, now.y - before.y);
    } else {
      const { left, top } = corner();
      const factor =
        Math.hypot(now.x - other.x, now.y - other.y) /
        Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
      lens().zoomBy(factor, (now.x + other.x) / 2 - left, (now.y + other.y) / 2 - top);
    }
    pointers.set(event.pointerId, now);
  }
  function up(event: PointerEvent): void {
    pointers.delete(event.pointerId);
  }
  element.addEventListener('wheel', wheel, { passive: false, signal });
  element.addEventListener('pointerdown', down, { signal });
  element.addEventListener('pointermove', move, { signal });
  element.addEventListener('pointerup', up, { signal });
  element.addEventListener('pointercancel', up, { signal });
  return () => listening.abort();
}
