/** Finds the folder of the project that somebody works in. */
import { access } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/**
 * The nearest folder from `start` upwards that holds one of the `marks`; undefined where there is none before the
 * user's home folder, which is no project: what lies there is the user's.
 */
export async function findProjectRoot(
  start: string,
  marks: readonly string[],
  home: string,
): Promise<string | undefined> {
  const top = resolve(home);
  for (let folder = resolve(start); folder !== top; folder = dirname(folder)) {
    const found = await Promise.all(marks.map((mark) => exists(join(folder, mark))));
    if (found.includes(true)) return folder;
    if (dirname(folder) === folder) return undefined;
  }
  return undefined;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
