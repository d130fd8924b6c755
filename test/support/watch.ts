/** Waits until a condition on what a test has recorded holds, without polling. */
export interface Watch {
  /** Call this whenever something has been recorded. */
  changed(): void;
  /** Resolves as soon as the condition holds. */
  until(holds: () => boolean): Promise<void>;
}

export function createWatch(): Watch {
  const watchers = new Set<() => void>();
  return {
    changed() {
      for (const watch of watchers) watch();
    },
    async until(holds) {
      if (holds()) return;
      await new Promise<void>((resolve) => {
        const watch = (): void => {
          if (!holds()) return;
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
      });
    },
  };
}
