/** The store for the tool lists of a troupe: the one of its options, of the environment, or the user's cache folder. */
import type { TroupeOptions } from '../options.js';
import { createFileCatalogStore, fileCatalogStore } from '../catalog/cache-files.js';
import type { CatalogStore } from '../catalog/cache-store.js';
import { storeInVariable } from '../config/files/user-store.js';

/** A folder, or `off`. */
const CACHE_VARIABLE = 'TROUPE_CACHE';

const METHODS = ['get', 'put', 'delete'] satisfies readonly (keyof CatalogStore)[];

/** Undefined: nothing is cached. */
export function toCatalogStore(
  option: TroupeOptions['cache'],
  env: Readonly<Record<string, string | undefined>> = process.env,
  cwd = '.',
): CatalogStore | undefined {
  if (option !== undefined) return option === false ? undefined : option;
  const place = env[CACHE_VARIABLE] ?? '';
  if (place === 'off') return undefined;
  return place === ''
    ? createFileCatalogStore({ cwd })
    : fileCatalogStore(storeInVariable(CACHE_VARIABLE, place, cwd));
}

/** What is wrong with the option; undefined if nothing is. */
export function cacheProblem(option: unknown): string | undefined {
  if (option === undefined || option === false) return undefined;
  const store = (typeof option === 'object' && option !== null ? option : {}) as Record<string, unknown>;
  const isStore = METHODS.every((name) => typeof store[name] === 'function');
  return isStore ? undefined : "expected false, or an object with the functions 'get', 'put' and 'delete'";
}
