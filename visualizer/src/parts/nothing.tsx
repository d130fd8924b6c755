/** What stands where a view would be empty, with a sentence that says why. */
import type { ComponentChildren } from 'preact';

export function Nothing({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="nothing">
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  );
}
