/** Modules of the measured build: `dist`, or the one in the options. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const DIST = process.env.TROUPE_BENCH_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));

export const fromDist = (path) => import(pathToFileURL(join(DIST, path)));

/** The published files of a build; a build that was only compiled has only its modules. */
export function published(path, dist = DIST) {
  const bundled = join(dist, 'bundle', path);
  return existsSync(bundled) ? bundled : join(dist, path);
}
