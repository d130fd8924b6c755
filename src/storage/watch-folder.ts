/** Watches a folder of the user. The folder is watched and not a file in it, since a replaced file is another file. */
import { watch } from 'node:fs';
import { makeFolder } from './make-folder.js';

/**
 * Calls `onChange` with the name of a changed file, until the returned function is called; null if the system does not
 * give the name. Creates a missing folder. If the folder cannot be watched, `onChange` is never called.
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
    // Synchronous, so that nothing is created after the end.
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
