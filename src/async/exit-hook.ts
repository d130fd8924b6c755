/**
 * Work for the exit of the host's process: servers run in process groups of their own, so the end of the host does not
 * reach them. One listener for the process, present only while it is needed. It does not change how the host ends.
 */
const needed = new Set<() => void>();

function onExit(): void {
  for (const end of needed) end();
}

/** Calls `end` when the process exits, unless the returned function is called before. Only synchronous work counts. */
export function atExit(end: () => void): () => void {
  if (needed.size === 0) process.once('exit', onExit);
  needed.add(end);
  return () => {
    needed.delete(end);
    if (needed.size === 0) process.off('exit', onExit);
  };
}
