/**
 * The inspector of the host, such as `inspect` of a Stately inspector. It hears copies (`inspection-copies.ts`).
 */
import type { ObservableSystem } from '../event-log/observed-system.js';
import type { MachineInspector } from '../options.js';
import type { Mask } from '../secrets.js';
import { observeCopies } from './inspection-copies.js';

export interface HostInspectorParts {
  readonly system: ObservableSystem;
  readonly mask: (connection: string) => Mask;
  /** It threw, and hears nothing any more. Told once. */
  readonly failed: (message: string) => void;
}

/** Lets it hear what there is, and everything from now on. The function that is given ends that. */
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
      failed(error instanceof Error ? error.message : 'it threw something that is no error');
    },
  });
  const end = (): void => {
    isOver = true;
    copied.detach();
  };
  copied.introduce();
  return end;
}
