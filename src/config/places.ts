/**
 * Where the programs of a user keep their configuration, by platform. Pure: everything about the machine comes in.
 */
import { posix, win32 } from 'node:path';

/** A machine and its user. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  /** The user's home folder. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Troupe's own folder for configuration. */
  readonly ownFolder: string;
}

/**
 * `own`: Troupe's folder. `appData`: where programs with windows keep theirs. `dotConfig`: `~/.config`, or what
 * `XDG_CONFIG_HOME` says instead.
 */
export type Base = 'project' | 'home' | 'own' | 'appData' | 'dotConfig';

/** The machine this process runs on. */
export async function thisMachine(env: Machine['env']): Promise<Machine> {
  const [{ default: envPaths }, { homedir, platform }] = await Promise.all([
    import('env-paths'),
    import('node:os'),
  ]);
  return {
    platform: platform(),
    home: homedir(),
    env,
    ownFolder: envPaths('troupe', { suffix: '' }).config,
  };
}

export function baseFolder(base: Exclude<Base, 'project'>, machine: Machine): string {
  const { platform, home, env, ownFolder } = machine;
  const paths = pathsOf(machine);
  switch (base) {
    case 'home':
      return home;
    case 'own':
      return ownFolder;
    case 'dotConfig':
      return env['XDG_CONFIG_HOME'] || paths.join(home, '.config');
    case 'appData':
      if (platform === 'win32') return env['APPDATA'] || paths.join(home, 'AppData', 'Roaming');
      if (platform === 'darwin') return paths.join(home, 'Library', 'Application Support');
      return baseFolder('dotConfig', machine);
  }
}

/** Path functions of the machine's platform. */
export function pathsOf({ platform }: Pick<Machine, 'platform'>): typeof posix {
  return platform === 'win32' ? win32 : posix;
}
