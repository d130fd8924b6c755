/**
 * Where the programs of a user keep their configuration, by platform. Pure but for `thisMachine`: everything about the machine comes in.
 */
import { posix, win32 } from 'node:path';
import { homeFolder, userFolder } from '../user-folder.js';

/** A machine and its user. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  /** The user's home folder; undefined where it is not known. */
  readonly home: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Troupe's own folder for configuration, likewise. */
  readonly ownFolder: string | undefined;
}

/**
 * `own`: Troupe's folder. `appData`: where programs with windows keep theirs. `dotConfig`: `~/.config`, or what
 * `XDG_CONFIG_HOME` says instead.
 */
export type Base = 'project' | 'home' | 'own' | 'appData' | 'dotConfig';

/** The machine this process runs on. */
export async function thisMachine(env: Machine['env']): Promise<Machine> {
  const ownFolder = await userFolder('config').catch(() => undefined);
  return { platform: process.platform, home: homeFolder(), env, ownFolder };
}

/** Undefined where it would be in a home folder that is not known. */
export function baseFolder(base: Exclude<Base, 'project'>, machine: Machine): string | undefined {
  const { home, env, ownFolder } = machine;
  const atHome = (...parts: string[]) =>
    home === undefined ? undefined : pathsOf(machine).join(home, ...parts);
  switch (base) {
    case 'home':
      return home;
    case 'own':
      return ownFolder;
    case 'dotConfig':
      return env['XDG_CONFIG_HOME'] || atHome('.config');
    case 'appData':
      if (machine.platform === 'win32') return env['APPDATA'] || atHome('AppData', 'Roaming');
      if (machine.platform === 'darwin') return atHome('Library', 'Application Support');
      return baseFolder('dotConfig', machine);
  }
}

/** Path functions of the machine's platform. */
export function pathsOf({ platform }: Pick<Machine, 'platform'>): typeof posix {
  return platform === 'win32' ? win32 : posix;
}
