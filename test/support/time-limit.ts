/** How long a test waits for what has to happen, milliseconds. Only a test that fails takes as long. */
export const WAIT_LIMIT_MS = 45_000;

/**
 * Settles as the promise does, or rejects with the error `late()` after `limitMs`. The rejection counts as handled: if a
 * test fails before it awaits the result, no other file fails later.
 */
export function inTime<T>(promise: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), limitMs);
  });
  const result = Promise.race([promise, limit]).finally(() => clearTimeout(timer));
  result.catch(() => {});
  return result;
}
