/**
 * What has to happen when the host's process exits: servers run in process groups of their own, so the end of the
 * host does not reach them. One listener for the process, there only while somebody needs it; it changes nothing of
 * how the host ends.
 */
const needed = new Set<() => void>();

function onExit(): void {
  for (const end of needed) end();
}

/** Calls `end` when the process exits, where only synchronous work counts. The returned function takes it back. */
export function atExit(end: () => void): () => void {
  if (needed.size === 0) process.once('exit', onExit);
  needed.add(end);
  return () => {
    needed.delete(end);
    if (needed.size === 0) process.off('exit', onExit);
  };
}
