/** Watches a folder of the user's in which files come and go, and one that is replaced is another file. */
import { watch } from 'node:fs';
import { makeFolder } from './make-folder.js';

/**
 * Calls `onChange` with the name of the file until the returned function is called; null where the system does not say
 * which it was. The folder is made where it is not there. Where it cannot be watched, nothing is told.
 */
export function watchFolder(
  folder: Promise<string>,
  onChange: (file: string | null, folder: string) => void,
): () => void {
  let stop = (): void => {};
  let isOver = false;
  const begin = async (): Promise<void> => {
    const path = await folder;
    if (isOver) return;
    // At once, so that nothing comes into being after the end.
    makeFolder(path);
    const watcher = watch(path, { persistent: false }, (_, file) => onChange(file, path));
    stop = () => watcher.close();
    watcher.on('error', stop);
  };
  begin().catch(() => {});
  return () => {
    isOver = true;
    stop();
  };
}
