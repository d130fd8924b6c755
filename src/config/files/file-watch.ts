/**
 * Reports when one of several files may have changed, however it was written: in place, by a rename over it, by
 * deleting and creating it again, together with a folder that did not exist before, or by pointing a link elsewhere.
 *
 * Watches the nearest existing and readable folder, so that it does not depend on the file itself. It ignores
 * everything in the folder that is not on the way to one of the files, and everything deeper. A link on the way is
 * watched like its target, each in its own folder. Also listens to the system's own events, because the library drops
 * events that quickly follow another, and with them the end of a save. One save may be reported more than once.
 *
 * W1. Errors are reported, never thrown. When a watch is ready, it reports a change, because one may have been missed.
 * W2. It does not keep the process alive, and leaves nothing behind when it is closed.
 */
import type { FSWatcher } from 'chokidar';
import { access, constants, readlink, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { toError, codeOf } from '../../text/error-message.js';

const NOTHING = JSON.stringify([[], []]);

export interface WatchPorts {
  readonly onchange: () => void;
  readonly onerror: (error: Error) => void;
}

export class FileWatch {
  #paths: readonly string[] = [];
  /** The folders and places of the present watch. */
  #set = NOTHING;
  #watcher: FSWatcher | undefined;
  #isClosed = false;
  /** Serializes the changes of the watch. */
  #last: Promise<void> = Promise.resolve();

  constructor(private readonly ports: WatchPorts) {}

  /** Watches exactly these files from now on, absolute paths. Resolves when the watch is ready. Never rejects. */
  follow(paths: readonly string[]): Promise<void> {
    this.#paths = paths;
    return (this.#last = this.#last.then(() => this.#arm()));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#watcher?.close();
  }

  /** Does nothing if the present watch is sufficient. After `close()`, no watch is made any more. */
  async #arm(): Promise<void> {
    try {
      const trails = await Promise.all(this.#paths.map((path) => trailOf(path)));
      const places = [...new Set(trails.flat())];
      const roots = await rootsOf(places);
      const wanted = JSON.stringify([[...roots], places]);
      if (wanted === this.#set) return;
      for (const { unreadable } of roots.values())
        if (unreadable !== undefined) this.ports.onerror(denied(unreadable));
      const { watch } = await import('chokidar');
      await this.#watcher?.close();
      if (this.#isClosed) return;
      const onTheWay = new Set(places.flatMap(withParents));
      const concerns = (path: string): boolean => onTheWay.has(resolve(path));
      const changed = (): void => {
        if (!this.#isClosed) this.ports.onchange();
      };
      this.#watcher = watch([...roots.keys()], {
        persistent: false,
        ignoreInitial: true,
        atomic: false,
        followSymlinks: false,
        depth: 0,
        ignored: (path) => !concerns(path),
      });
      this.#watcher
        .on('all', (event, path) => {
          if (event === 'unlinkDir' && isLost(resolve(path), roots)) this.#set = NOTHING;
          changed();
        })
        .on('raw', (_, entry, details) => {
          if (placesOf(entry, details as RawDetails).some(concerns)) changed();
        })
        .on('ready', changed)
        .on('error', (error) => this.ports.onerror(toError(error)));
      this.#set = wanted;
    } catch (error) {
      this.ports.onerror(toError(error));
    }
  }
}

/**
 * Whether the library has dropped a folder, even one that was unreadable only for a moment. It also reports this for
 * the root of the file system when it starts to watch it, and then continues.
 */
function isLost(path: string, roots: ReadonlyMap<string, Root>): boolean {
  return roots.has(path) && path !== dirname(path);
}

interface RawDetails {
  /** Undefined if the library polls files, as its variable `CHOKIDAR_USEPOLLING` requests. */
  readonly watchedPath?: string;
}

/**
 * The places of the system's own event: an entry of the watched folder, the watched folder or file itself, or, with
 * polling, a whole path.
 */
function placesOf(entry: string | null, { watchedPath }: RawDetails): readonly string[] {
  if (watchedPath === undefined) return entry === null ? [] : [entry];
  return entry === null || entry === basename(watchedPath) ? [watchedPath] : [join(watchedPath, entry)];
}

/** The number of links that the system follows one after the other. */
const MAX_LINKS = 40;

/** The links on the way to a file, each at its real path, and finally their target. */
async function trailOf(path: string, left = MAX_LINKS): Promise<readonly string[]> {
  if (left === 0) return [];
  const steps = withParents(path);
  const targets = await Promise.all(steps.map((step) => readlink(step).catch(() => undefined)));
  const first = targets.findIndex((target) => target !== undefined);
  const [link, target] = [steps[first], targets[first]];
  if (link === undefined || target === undefined) return [path];
  return [link, ...(await trailOf(resolve(dirname(link), target, relative(link, path)), left - 1))];
}

interface Root {
  /** Distinguishes a folder from a later one with the same name: a watch stays with the old one. */
  readonly identity: string;
  /** The folder below it that may not be read, and so cannot be watched until that changes. */
  readonly unreadable: string | undefined;
}

/** The nearest existing and readable folder of each place, by its path. */
async function rootsOf(places: readonly string[]): Promise<ReadonlyMap<string, Root>> {
  return new Map(await Promise.all(places.map((place) => nearestFolder(dirname(place)))));
}

async function nearestFolder(path: string, below?: string): Promise<readonly [path: string, root: Root]> {
  let unreadable = below;
  try {
    await access(path, constants.R_OK);
    const stats = await stat(path);
    const identity = `${stats.dev} ${stats.ino} ${stats.birthtimeMs}`;
    if (stats.isDirectory()) return [path, { identity, unreadable }];
  } catch (error) {
    if (isDenial(error)) unreadable = path;
  }
  const parent = dirname(path);
  return parent === path ? [path, { identity: '', unreadable }] : nearestFolder(parent, unreadable);
}

function isDenial(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'EACCES' || code === 'EPERM';
}

function denied(folder: string): Error {
  return new Error(`the folder ${folder} may not be read (permission denied)`);
}

/** The path and its parents, from the root. */
function withParents(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...withParents(parent), path];
}
