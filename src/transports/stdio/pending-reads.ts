const TURNS = 2;

/**
 * Calls `fn` when what was already in the kernel's pipes has been read; the returned function cancels that.
 *
 * What a process wrote before it ended is there by the time its end is reported, and a whole turn of the event loop
 * later it has been read (a socket buffer is smaller than what one turn reads). So this waits for the last words of
 * a process without a timer and without a guess, and a grandchild that goes on writing cannot prolong it.
 */
export function afterPendingReads(fn: () => void): () => void {
  let turns = 0;
  const turn = (): void => {
    if (turns === TURNS) return fn();
    turns += 1;
    handle = setImmediate(turn);
  };
  let handle = setImmediate(turn);
  return () => clearImmediate(handle);
}
