/** Takes the place of an empty view, and says why it is empty. */
import type { ComponentChildren } from 'preact';

export function Nothing({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="nothing">
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  );
}
