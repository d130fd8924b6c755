/**
 * What differs between operating systems. Nothing else in `src` reads `process.platform`: the answers are data, so the answers for
 * every system are tested on each.
 */
import { posix, win32 } from 'node:path';

/** The answers of one operating system. */
export interface Platform {
  readonly name: NodeJS.Platform;
  /** How its paths are written. */
  readonly paths: typeof posix;
  /** A program can lead a group of processes, and a signal reaches all of them (POSIX). */
  readonly hasProcessGroups: boolean;
  /** The mode of a file says who may read it. */
  readonly hasFileModes: boolean;
  /** Names of variables and of programs are the same in upper and lower case. */
  readonly ignoresCase: boolean;
  /** Where the table of processes is. Undefined if reading it would take a program that takes a second. */
  readonly processTable: 'proc' | 'ps' | undefined;
  /** The codes with which a file cannot be replaced for a moment, because another process has it open. */
  readonly busyFileCodes: ReadonlySet<string>;
  /** A pipe as stdout is written to at once: while nobody reads it, the whole event loop waits. */
  readonly stdoutBlocks: boolean;
  /** The folder of a program for files with tokens that are of use only for a while. */
  readonly privateFolder: 'log' | 'data';
  /** The variable that names the home folder. */
  readonly homeVariable: 'HOME' | 'USERPROFILE';
  /** The search path of a program that was started from the desktop and not from a shell, if it is a short one. */
  readonly desktopPath?: string;
  /** Most characters of one entry of the keychain. */
  readonly keychainCharacters: number;
  /** The program that hands an address to the browser, with its first arguments. */
  readonly opener: readonly [command: string, ...args: string[]];
  /** Every user sits at a desktop: there is no other way to log in. */
  readonly isDesktop: boolean;
}

const POSIX: Omit<Platform, 'name'> = {
  paths: posix,
  hasProcessGroups: true,
  hasFileModes: true,
  ignoresCase: false,
  processTable: 'ps',
  busyFileCodes: new Set(),
  stdoutBlocks: false,
  privateFolder: 'log',
  homeVariable: 'HOME',
  keychainCharacters: Infinity,
  opener: ['xdg-open'],
  isDesktop: false,
};

const WINDOWS: Omit<Platform, 'name'> = {
  paths: win32,
  hasProcessGroups: false,
  hasFileModes: false,
  ignoresCase: true,
  processTable: undefined,
  busyFileCodes: new Set(['EPERM', 'EACCES', 'EBUSY']),
  stdoutBlocks: true,
  privateFolder: 'log',
  homeVariable: 'USERPROFILE',
  // 2,560 bytes of UTF-16 (CRED_MAX_CREDENTIAL_BLOB_SIZE).
  keychainCharacters: 1_280,
  opener: ['rundll32', 'url.dll,FileProtocolHandler'],
  isDesktop: true,
};

const SPECIAL: Partial<Record<NodeJS.Platform, Partial<Platform>>> = {
  linux: { processTable: 'proc' },
  // `sysdiagnose` collects the folder of logs.
  darwin: {
    privateFolder: 'data',
    opener: ['open'],
    isDesktop: true,
    desktopPath: '/usr/bin:/bin:/usr/sbin:/sbin',
  },
};

/** The answers of an operating system, by Node's name for it. */
export function platformOf(name: NodeJS.Platform): Platform {
  return { name, ...(name === 'win32' ? WINDOWS : POSIX), ...SPECIAL[name] };
}

/** The system that this process runs on. */
export const THIS_PLATFORM = platformOf(process.platform);
