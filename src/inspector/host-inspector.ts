/**
 * Attaches the host's inspector, such as `inspect` of a Stately inspector. It receives copies (`inspection-copies.ts`).
 */
import type { ObservableSystem } from '../event-log/record/observed-system.js';
import type { MachineInspector } from '../options.js';
import type { Mask } from '../secrets/secrets.js';
import { observeCopies } from './inspection-copies.js';

export interface HostInspectorParts {
  readonly system: ObservableSystem;
  readonly mask: (connection: string) => Mask;
  /** It threw and is detached. Called at most once. */
  readonly failed: (message: string) => void;
}

/** Reports the present actors and every later event. The returned function detaches the inspector. */
export function attachInspector(
  inspector: MachineInspector,
  { system, mask, failed }: HostInspectorParts,
): () => void {
  const next = typeof inspector === 'function' ? inspector : inspector.next?.bind(inspector);
  let isOver = false;
  const copied = observeCopies({
    system,
    mask,
    next: (copy) => {
      if (!isOver) next?.(copy as never);
    },
    failed: (error) => {
      if (isOver) return;
      end();
      failed(error instanceof Error ? error.message : 'it threw a value that is not an error');
    },
  });
  const end = (): void => {
    isOver = true;
    copied.detach();
  };
  copied.introduce();
  return end;
}
