/** What can be opened. What is in it is made only while it is open, since there may be very much of it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

export interface OpeningProps {
  readonly class: string;
  /** What is always there to be read. */
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
