/**
 * Tells when one of some files may have changed, however it is written: in place, by a rename over it, by deleting and
 * making it again, together with a folder that was not there before, or by making a link lead elsewhere.
 *
 * Watches the nearest folder that exists and may be read, so that nothing depends on the file itself being there, and
 * looks away from everything in it that is not on the way to one of the files, and from what is deeper. A link on the
 * way is watched as the file is that it leads to, each in its own folder. Listens to the system's own events as well,
 * since the library leaves out what follows quickly on something else, and with it the last word of a save.
 *
 * W1. What comes in quick succession is told once.
 * W2. Whatever goes wrong is told, never thrown. What was missed before the watch was set is told, too.
 * W3. Keeps no process alive, and leaves nothing when it is closed.
 */
import type { FSWatcher } from 'chokidar';
import { access, constants, readlink, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Clock } from '../ports.js';
import { toError } from '../thrown.js';

/** Silence after which a change is told. Longer than the gap within a save, short for a person who waits. */
const DEBOUNCE_MS = 300;
/** A file that never rests is told at last. */
const MAX_WAIT_MS = 2_000;

const NOTHING = JSON.stringify([[], []]);

export interface WatchPorts {
  readonly clock: Clock;
  readonly onchange: () => void;
  readonly onerror: (error: Error) => void;
}

export class FileWatch {
  #paths: readonly string[] = [];
  /** Folders and places that the present watch is for. */
  #set = NOTHING;
  #watcher: FSWatcher | undefined;
  #timer: unknown;
  #firstAt: number | undefined;
  #isClosed = false;
  /** Settings of the watch, one after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(private readonly ports: WatchPorts) {}

  /** Watches these files from now on, absolute paths, and no others. Resolves when the watch is set. Never rejects. */
  follow(paths: readonly string[]): Promise<void> {
    this.#paths = paths;
    return (this.#last = this.#last.then(() => this.#arm()));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#forget();
    await this.#watcher?.close();
  }

  /** Does nothing where the present watch will do. Once closed, nothing is made any more. */
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
          this.#changed();
        })
        .on('raw', (_, entry, details) => {
          if (placesOf(entry, details as RawDetails).some(concerns)) this.#changed();
        })
        .on('ready', () => this.#changed())
        .on('error', (error) => this.ports.onerror(toError(error)));
      this.#set = wanted;
    } catch (error) {
      this.ports.onerror(toError(error));
    }
  }

  #changed(): void {
    const { clock } = this.ports;
    if (this.#isClosed) return;
    const firstAt = this.#firstAt ?? clock.now();
    this.#forget();
    this.#firstAt = firstAt;
    const delay = Math.min(DEBOUNCE_MS, firstAt + MAX_WAIT_MS - clock.now());
    this.#timer = clock.setTimeout(() => this.#tell(), Math.max(0, delay));
  }

  #tell(): void {
    this.#forget();
    void this.follow(this.#paths);
    this.ports.onchange();
  }

  #forget(): void {
    if (this.#timer !== undefined) this.ports.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#firstAt = undefined;
  }
}

/**
 * Whether the library has let go of a folder, also where that only could not be read for a moment. It says so of the top
 * of the file system whenever it begins to watch that, and goes on.
 */
function isLost(path: string, roots: ReadonlyMap<string, Root>): boolean {
  return roots.has(path) && path !== dirname(path);
}

interface RawDetails {
  /** Undefined where files are polled, as a variable of the library (`CHOKIDAR_USEPOLLING`) has it. */
  readonly watchedPath?: string;
}

/**
 * What the system's own event is about: an entry of the watched folder, or that folder or file itself, or, where files
 * are polled, a whole path.
 */
function placesOf(entry: string | null, { watchedPath }: RawDetails): readonly string[] {
  if (watchedPath === undefined) return entry === null ? [] : [entry];
  return entry === null || entry === basename(watchedPath) ? [watchedPath] : [join(watchedPath, entry)];
}

/** As many links as the system follows one after the other. */
const MOST_LINKS = 40;

/** The links on the way to a file, each where it really is, and last the place that they lead to. */
async function trailOf(path: string, left = MOST_LINKS): Promise<readonly string[]> {
  if (left === 0) return [];
  const steps = withParents(path);
  const targets = await Promise.all(steps.map((step) => readlink(step).catch(() => undefined)));
  const first = targets.findIndex((target) => target !== undefined);
  const [link, target] = [steps[first], targets[first]];
  if (link === undefined || target === undefined) return [path];
  return [link, ...(await trailOf(resolve(dirname(link), target, relative(link, path)), left - 1))];
}

interface Root {
  /** What tells a folder from a later one of the same name: a watch stays with the old one. */
  readonly identity: string;
  /** The folder below it that may not be read, and so cannot be watched before that changes. */
  readonly unreadable: string | undefined;
}

/** By its path, the nearest folder of each place that exists and may be read. */
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
  return error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM');
}

function denied(folder: string): Error {
  return new Error(`the folder ${folder} may not be read (permission denied)`);
}

/** From the top. */
function withParents(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...withParents(parent), path];
}
