/** Modules of the build that is measured: `dist`, or the one that the bench was given. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const DIST = process.env.TROUPE_BENCH_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));

export const fromDist = (path) => import(pathToFileURL(join(DIST, path)));

/** What is published of a build; one that was only compiled has but its modules. */
export function published(path, dist = DIST) {
  const bundled = join(dist, 'bundle', path);
  return existsSync(bundled) ? bundled : join(dist, path);
}
