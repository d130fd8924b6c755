/**
 * Where programs keep a user's configuration, by platform. Pure except for `thisMachine`: all facts about the machine
 * are parameters.
 */
import { platformOf, THIS_PLATFORM, type Platform } from '../../platform/platform.js';
import { homeFolder, userFolder } from '../../storage/user-folder.js';

/** A machine and its user. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  /** The user's home folder; undefined if it is unknown. */
  readonly home: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Troupe's own configuration folder; undefined if it is unknown. */
  readonly ownFolder: string | undefined;
}

/**
 * `own`: Troupe's folder. `appData`: the folder of desktop programs. `dotConfig`: `~/.config`, or the folder in
 * `XDG_CONFIG_HOME`.
 */
export type Base = 'project' | 'home' | 'own' | 'appData' | 'dotConfig';

/** The machine this process runs on. */
export async function thisMachine(env: Machine['env']): Promise<Machine> {
  const ownFolder = await userFolder('config').catch(() => undefined);
  return { platform: THIS_PLATFORM.name, home: homeFolder(), env, ownFolder };
}

/** Undefined if it would be in an unknown home folder. */
export function baseFolder(base: Exclude<Base, 'project'>, machine: Machine): string | undefined {
  const { home, ownFolder } = machine;
  const atHome = (...parts: string[]) =>
    home === undefined ? undefined : pathsOf(machine).join(home, ...parts);
  switch (base) {
    case 'home':
      return home;
    case 'own':
      return ownFolder;
    case 'dotConfig':
      return folderIn('XDG_CONFIG_HOME', machine) ?? atHome('.config');
    case 'appData':
      if (machine.platform === 'win32') return folderIn('APPDATA', machine) ?? atHome('AppData', 'Roaming');
      if (machine.platform === 'darwin') return atHome('Library', 'Application Support');
      return baseFolder('dotConfig', machine);
  }
}

/**
 * The folder that a variable names. A relative path is ignored: it would lead into the project, whose files would count as
 * the user's.
 */
export function folderIn(variable: string, machine: Pick<Machine, 'platform' | 'env'>): string | undefined {
  const folder = machine.env[variable];
  return folder && pathsOf(machine).isAbsolute(folder) ? folder : undefined;
}

/** Those of these variables that are set and ignored. */
export function ignoredVariables(variables: readonly string[], machine: Machine): readonly string[] {
  return variables.filter((name) => machine.env[name] && folderIn(name, machine) === undefined);
}

/** Path functions of the machine's platform. */
export function pathsOf({ platform }: Pick<Machine, 'platform'>): Platform['paths'] {
  return platformOf(platform).paths;
}
