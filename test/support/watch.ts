/** Waits for something that a test has recorded, without looking at a clock. */
export interface Watch {
  /** To be called whenever something was recorded. */
  changed(): void;
  /** Resolves as soon as it holds. */
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
