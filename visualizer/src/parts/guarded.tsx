/** What cannot be drawn, as of a log that is other than the page expects, says so, and all that is around it stays. */
import type { ComponentChildren } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { Nothing } from './nothing.js';

/** It is tried again when `what` is something else. */
export function Guarded({ what, children }: { what: string; children: ComponentChildren }) {
  const [error, again] = useErrorBoundary() as [unknown, () => void];
  useEffect(again, [what]);
  if (error === undefined) return <>{children}</>;
  return (
    <Nothing title="This cannot be shown">
      There is something in it that this page does not expect. Everything else can be looked at.
    </Nothing>
  );
}
