/** What the page is shown on: a screen or paper, with a mouse or with fingers. */
import { useEffect, useState } from 'preact/hooks';

/** The least height and width of what a finger touches, pixels (WCAG 2.2, 2.5.5). */
const FINGER = 44;

/** The height of a row; at least as high as a finger needs. Without a window, as in a test, it is unchanged. */
export function rowHeight(px: number): number {
  const isTouched = typeof matchMedia === 'function' && matchMedia('(pointer: coarse)').matches;
  return isTouched ? Math.max(FINGER, px) : px;
}

/** Whether the page is being printed. */
export function usePrint(): boolean {
  const [isPrint, setPrint] = useState(false);
  useEffect(() => {
    const print = matchMedia('print');
    const listen = (): void => setPrint(print.matches);
    listen();
    print.addEventListener('change', listen);
    return () => print.removeEventListener('change', listen);
  }, []);
  return isPrint;
}
