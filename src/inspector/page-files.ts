/**
 * The built files of the page. Opens only files that are listed in the folder, by their listed name: no address can
 * lead out of it.
 */
import { readdir, readFile } from 'node:fs/promises';
import { basename, extname, join, relative, sep } from 'node:path';
import { inPackage } from '../package.js';

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Whether the bytes are compressed with Brotli. */
  readonly isCompressed: boolean;
}

/** The output of `npm run build`. */
const BUILT = inPackage('dist/visualizer');

/** The build compresses scripts and styles: most of the package would be theirs. */
const COMPRESSED = '.br';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

export class PageFiles {
  /** Paths of files by the requested path. */
  #files: Promise<ReadonlyMap<string, string>> | undefined;

  constructor(private readonly folder: string = BUILT) {}

  /** Undefined if there is no such file. */
  async get(path: string): Promise<PageFile | undefined> {
    const file = (await this.#listed()).get(path);
    if (file === undefined) return undefined;
    const isCompressed = file.endsWith(COMPRESSED);
    const type = TYPES[extname(isCompressed ? basename(file, COMPRESSED) : file)];
    return { type: type ?? 'application/octet-stream', bytes: await readFile(file), isCompressed };
  }

  async isBuilt(): Promise<boolean> {
    return (await this.#listed()).has('/');
  }

  /** Listed once, and again as long as the folder is empty. */
  async #listed(): Promise<ReadonlyMap<string, string>> {
    this.#files ??= listed(this.folder);
    const files = await this.#files;
    if (files.size === 0) this.#files = undefined;
    return files;
  }
}

async function listed(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = new Map<string, string>();
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const path = `/${relative(folder, file).split(sep).join('/')}`;
    files.set(path.endsWith(COMPRESSED) ? path.slice(0, -COMPRESSED.length) : path, file);
  }
  const index = files.get('/index.html');
  if (index !== undefined) files.set('/', index);
  return files;
}
