/**
 * Parts that can be opened and closed. Their content is rendered only while they are open, because it may be very
 * large.
 */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

/** A part with a heading. */
export function Fold({
  title,
  isOpen = false,
  children,
}: {
  title: string;
  isOpen?: boolean;
  children: ComponentChildren;
}) {
  return (
    <Opening class="fold" summary={<h3>{title}</h3>} isOpen={isOpen}>
      {() => <div class="fold-body">{children}</div>}
    </Opening>
  );
}

export interface OpeningProps {
  readonly class: string;
  /** The part that is always visible. */
  readonly summary: ComponentChildren;
  readonly isOpen?: boolean;
  readonly children: () => ComponentChildren;
}

export function Opening({ summary, isOpen = false, children, ...rest }: OpeningProps) {
  const [isShown, setShown] = useState(isOpen);
  return (
    <details class={rest.class} open={isOpen} onToggle={({ currentTarget }) => setShown(currentTarget.open)}>
      <summary>{summary}</summary>
      {isShown && children()}
    </details>
  );
}
