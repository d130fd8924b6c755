/**
 * The folders in which Troupe keeps what belongs to the user: trusted entries, accepted tools, sign-ins, lists of tools, keys
 * of the page and the gateway.
 *
 * U1. A folder inside the project that the host works in, by its path without links, is never used: whoever wrote the project
 *     could supply the files, and would get what is written there. A folder that code names is used as it is.
 * U2. It is decided once for each store, at its first use.
 */
import { isAbsolute, join, resolve } from 'node:path';
import { ConfigError } from '../../errors.js';
import { homeFolder, userFolder, type UserFolderKind } from '../../storage/folders.js';
import { THIS_PLATFORM } from '../../platform/platform.js';

/** Where the host of a store works. */
export interface StoreHost {
  /**
   * Folder in which the host works, as in `discover.cwd`: the default folder of the store is not used if it lies inside the
   * project that is found from here upwards. Default: the working directory at the first use.
   */
  readonly cwd?: string;
}

/** Rejects with a `ConfigError` if the folder must not be used. */
export type StoreFolder = () => Promise<string>;

/** The folder that code names, or one in the user's folder of that kind. */
export function storeFolder(
  { folder, cwd }: StoreHost & { readonly folder?: string },
  kind: UserFolderKind,
  name: string,
): StoreFolder {
  return folder === undefined ? userStore(kind, name, cwd) : async () => folder;
}

/** A folder in the user's folder of that kind. */
export function userStore(kind: UserFolderKind, name = '', cwd?: string): StoreFolder {
  return once(async () => outsideProject(join(await userFolder(kind), name), variableOf(kind), cwd));
}

/** A folder that a variable of the environment names. */
export function storeInVariable(variable: string, folder: string, cwd?: string): StoreFolder {
  return once(async () => {
    if (isAbsolute(folder)) return outsideProject(folder, variable, cwd);
    throw new ConfigError(`${variable} is ignored, because '${folder}' is not an absolute path`);
  });
}

function once(decide: StoreFolder): StoreFolder {
  let decided: Promise<string> | undefined;
  return () => (decided ??= decide());
}

async function outsideProject(folder: string, variable: string, cwd = '.'): Promise<string> {
  const [{ projectOf }, { insideOf }] = await Promise.all([
    import('./file-discovery.js'),
    import('./project-root.js'),
  ]);
  const { folders } = await projectOf(resolve(cwd), homeFolder());
  const isInside = await insideOf(folders, 'or-same');
  if (!(await isInside(folder))) return folder;
  throw new ConfigError(
    `${folder} is inside the project, so its files do not count and none is written there; set ${variable} to a folder outside of it`,
  );
}

/** The variable that decides where the folder is. */
function variableOf(kind: UserFolderKind): string {
  if (THIS_PLATFORM.name === 'darwin') return 'HOME';
  if (THIS_PLATFORM.name === 'win32') return kind === 'config' ? 'APPDATA' : 'LOCALAPPDATA';
  return VARIABLES[kind];
}

const VARIABLES: Readonly<Record<UserFolderKind, string>> = {
  config: 'XDG_CONFIG_HOME',
  data: 'XDG_DATA_HOME',
  cache: 'XDG_CACHE_HOME',
  log: 'XDG_STATE_HOME',
};
