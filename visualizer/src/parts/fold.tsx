/** A part with a title that can be closed. */
import type { ComponentChildren } from 'preact';

export function Fold(props: { title: string; isOpen?: boolean; children: ComponentChildren }) {
  return (
    <details class="fold" open={props.isOpen ?? false}>
      <summary>
        <h3>{props.title}</h3>
      </summary>
      <div class="fold-body">{props.children}</div>
    </details>
  );
}
