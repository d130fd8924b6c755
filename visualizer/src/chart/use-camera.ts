/** Where a person looks at a picture from: pan, zoom, fit; by pointer, wheel, two fingers and keys. */
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Camera {
  /** Of the picture's corner, in pixels of the box. */
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

export interface Lens {
  readonly camera: Camera;
  /** Of the box, pixels. */
  readonly size: { readonly width: number; readonly height: number };
  readonly fit: () => void;
  readonly zoomBy: (factor: number, x?: number, y?: number) => void;
  readonly panBy: (x: number, y: number) => void;
  /** Brings that place of the picture to the middle. */
  readonly lookAt: (x: number, y: number, zoom?: number) => void;
}

const SMALLEST = 0.08;
const LARGEST = 4;
const MARGIN = 24;

export function useCamera(
  box: RefObject<HTMLElement>,
  picture: { readonly width: number; readonly height: number } | undefined,
): Lens {
  const [camera, setCamera] = useState<Camera>({ x: 0, y: 0, zoom: 1 });
  const [size, setSize] = useState({ width: 0, height: 0 });
  const isFitted = useRef(true);

  const clamp = (zoom: number): number => Math.min(LARGEST, Math.max(SMALLEST, zoom));
  function fit(): void {
    if (picture === undefined || size.width === 0) return;
    const zoom = clamp(
      Math.min(1.4, (size.width - 2 * MARGIN) / picture.width, (size.height - 2 * MARGIN) / picture.height),
    );
    setCamera({
      zoom,
      x: (size.width - picture.width * zoom) / 2,
      y: (size.height - picture.height * zoom) / 2,
    });
    isFitted.current = true;
  }
  function zoomBy(factor: number, x = size.width / 2, y = size.height / 2): void {
    isFitted.current = false;
    setCamera((before) => {
      const zoom = clamp(before.zoom * factor);
      const ratio = zoom / before.zoom;
      return { zoom, x: x - (x - before.x) * ratio, y: y - (y - before.y) * ratio };
    });
  }
  function panBy(x: number, y: number): void {
    isFitted.current = false;
    setCamera((before) => ({ ...before, x: before.x + x, y: before.y + y }));
  }
  function lookAt(x: number, y: number, zoom = camera.zoom): void {
    isFitted.current = false;
    setCamera({ zoom, x: size.width / 2 - x * zoom, y: size.height / 2 - y * zoom });
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
    if (isFitted.current) fit();
  }, [size.width, size.height, picture]);

  const lens = { camera, size, fit, zoomBy, panBy, lookAt };
  const latest = useRef(lens);
  latest.current = lens;
  useEffect(() => {
    const element = box.current;
    return element === null ? undefined : followPointers(element, () => latest.current);
  }, [box]);
  return lens;
}

function followPointers(element: HTMLElement, lens: () => Lens): () => void {
  const pointers = new Map<number, { x: number; y: number }>();
  const corner = (): DOMRect => element.getBoundingClientRect();
  const listening = new AbortController();
  const { signal } = listening;

  function wheel(event: WheelEvent): void {
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
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    const now = { x: event.clientX, y: event.clientY };
    if (other === undefined) {
      if (!element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
      lens().panBy(now.x - before.x, now.y - before.y);
    } else {
      const { left, top } = corner();
      const factor = Math.hypot(now.x - other.x, now.y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
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
