/** The variables that lead a program to the folders of its user, on any system. */
import process from 'node:process';

export interface UserFolders {
  readonly home?: string;
  readonly config?: string;
  readonly data?: string;
  readonly cache?: string;
  readonly state?: string;
}

/**
 * Only for the folders that are given. Below them a program has its own as its system wants it, for which `userFolder` is
 * asked. macOS has no variables but `HOME`.
 */
export function userVariables(
  { home, config, data, cache, state }: UserFolders,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const anyFolder = config ?? data ?? cache ?? state;
  const variables = {
    HOME: home ?? (platform === 'darwin' ? anyFolder : undefined),
    USERPROFILE: home,
    XDG_CONFIG_HOME: config,
    APPDATA: config,
    XDG_DATA_HOME: data,
    XDG_CACHE_HOME: cache,
    XDG_STATE_HOME: state,
    LOCALAPPDATA: data ?? cache ?? state,
  };
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Every folder of the user below one folder. The home folder stays where variables can move the others. */
export function isolatedUser(folder: string, platform?: NodeJS.Platform): Record<string, string> {
  const folders = {
    config: `${folder}/config`,
    data: `${folder}/data`,
    cache: `${folder}/cache`,
    state: `${folder}/state`,
  };
  return userVariables(folders, platform);
}
