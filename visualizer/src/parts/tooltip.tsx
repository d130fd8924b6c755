/** A note beside a place of the window. It is always whole: above everything else, and inside the window. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface TooltipProps {
  /** The place, in pixels of the window. */
  readonly beside: Pick<DOMRect, 'left' | 'top' | 'bottom'>;
  readonly class?: string;
  readonly children: ComponentChildren;
}

const GAP = 8;

export function Tooltip({ beside, children, ...rest }: TooltipProps) {
  const note = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = note.current;
    if (element === null) return;
    if ('popover' in element && !element.matches(':popover-open')) element.showPopover();
    const { width, height } = element.getBoundingClientRect();
    const within = (at: number, size: number, room: number): number =>
      Math.max(GAP, Math.min(at, room - size - GAP));
    const below = beside.bottom + GAP;
    const top = below + height + GAP <= window.innerHeight ? below : beside.top - GAP - height;
    element.style.left = `${within(beside.left, width, window.innerWidth)}px`;
    element.style.top = `${within(top, height, window.innerHeight)}px`;
  });
  return (
    <div ref={note} popover="manual" class={`tooltip ${rest.class ?? ''}`} aria-hidden="true">
      {children}
    </div>
  );
}
