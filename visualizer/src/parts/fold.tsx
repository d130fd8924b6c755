/** A part with a title that can be closed. */
import type { ComponentChildren } from 'preact';
import { Opening } from './opening.js';

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
