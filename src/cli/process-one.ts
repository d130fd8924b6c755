/** A command that is process 1 of its container. */

/**
 * What a person must know of it; undefined for any other process. Node does not wait for processes that it did not start, so
 * orphans, which the kernel gives to process 1, stay as zombie processes when they end.
 */
export function warningOfProcessOne(pid: number): string | undefined {
  if (pid !== 1) return undefined;
  return 'This is process 1 of its container, so helpers that outlive their server stay as zombie processes: run the container with --init (init: true in a Compose file, shareProcessNamespace: true in Kubernetes), or start the command with tini.';
}
