/**
 * The folder of the categories, and the only way to its files.
 *
 * 1. A category id never becomes part of a path by itself: it has to be equal to a name that the folder lists. So `..`,
 *    absolute and encoded paths, NUL and look-alike letters name nothing.
 * 2. Links are not followed, neither when names are listed nor when a file is opened, and only regular files are read.
 * 3. What is thrown is a DataError whose message has no path.
 *
 * A file is read anew for each call: what somebody edits counts at once.
 */
import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { categoryFrom } from './category.mjs';
import { DataError } from './data-error.mjs';

const FILE = /^([a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?)\.json$/;
const SIZE_LIMIT_BYTES = 16 * 1024 * 1024;
const READ_REGULAR = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * @typedef {{ path: string, categoryIds(): Promise<string[]>,
 *   read(id: string): Promise<import('./category.mjs').Category | undefined> }} DataFolder `read` gives undefined where
 *   there is no such category.
 */

/**
 * @param {string} place
 * @param {import('./log.mjs').Log} log
 * @returns {Promise<DataFolder>}
 * @throws Error with the path, for the person who starts the server
 */
export async function openDataFolder(place, log) {
  const path = await realpath(place).catch((/** @type {unknown} */ error) => {
    throw new Error(
      `The data folder ${place} cannot be opened (${codeOf(error)}). Name another one with --data DIR.`,
    );
  });
  if (!(await stat(path)).isDirectory())
    throw new Error(
      `${path} is not a folder. Name one with --data DIR that has a JSON file for each category.`,
    );

  async function categoryIds() {
    const entries = await readdir(path, { withFileTypes: true }).catch((/** @type {unknown} */ error) => {
      throw new DataError(`The data folder cannot be read (${codeOf(error)}).`);
    });
    return entries.flatMap((entry) => (entry.isFile() ? (FILE.exec(entry.name)?.slice(1) ?? []) : [])).sort();
  }

  return {
    path,
    categoryIds,
    async read(id) {
      if (!(await categoryIds()).includes(id)) return undefined;
      const text = await readText(join(path, `${id}.json`), id);
      try {
        return categoryFrom(id, text);
      } catch (error) {
        log.error('data', `${id}: ${error instanceof Error ? error.message : String(error)}`);
        throw error;
      }
    },
  };
}

/**
 * @param {string} path
 * @param {string} id
 */
async function readText(path, id) {
  /** @type {import('node:fs/promises').FileHandle | undefined} */
  let file;
  try {
    file = await open(path, READ_REGULAR);
    const about = await file.stat();
    if (!about.isFile()) throw new DataError(`The data of '${id}' is not in a regular file.`);
    if (about.size > SIZE_LIMIT_BYTES)
      throw new DataError(`The data of '${id}' is larger than ${SIZE_LIMIT_BYTES} bytes.`);
    return await file.readFile('utf8');
  } catch (error) {
    throw error instanceof DataError
      ? error
      : new DataError(`The data of '${id}' cannot be read (${codeOf(error)}).`);
  } finally {
    await file?.close();
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
}
