/** Which configuration files and which of their entries a host uses. */

import { resolve } from 'node:path';
import type { ServerConfig } from '../entry/server-config.js';

/** A configuration file, and who controls it. */
export interface ConfigFile {
  /** Absolute, or relative to the working directory. */
  readonly path: string;
  /**
   * `given`: only the user controls it, so it is trusted. `project`: it came with a project, so its entries need trust,
   * and their paths start from its folder. Default: a file inside a project needs trust as well, and any other is
   * `given`.
   */
  readonly scope?: 'given' | 'project';
  /** `all`: none of its entries needs trust, wherever the file is. Default: depends on `scope`. */
  readonly trust?: 'all';
  /**
   * Whether the file need not exist. Default false: `start()` rejects if the file cannot be read, so that a wrong path does
   * not pass for a configuration without servers.
   */
  readonly optional?: boolean;
}

/** A discovered entry as written: variables are not expanded, and secrets are not masked. */
export interface FoundEntry {
  /** Name of the server. */
  readonly server: string;
  /** The entry as it is written, not expanded. */
  readonly config: ServerConfig;
}

/** Where an entry was discovered. */
export interface FoundSource {
  /** The host whose conventions the file follows, such as `cursor`; `extension` for an extension. */
  readonly kind: string;
  /** In a form that a person recognises: the file, or the name of the extension. */
  readonly name: string;
  /** Who controls it. Entries of a project need trust. */
  readonly scope: 'project' | 'user' | 'extension';
  /** Absolute path of the file. */
  readonly path?: string;
}

/** What to look for in addition to the host's own files and servers. */
export interface DiscoveryOptions {
  /** Folder in which the search for the project starts, upwards. Default: the working directory. */
  readonly cwd?: string;
  /** Whether to read files of the project. Default true. */
  readonly project?: boolean;
  /** Whether to read files of the user: Troupe's own, and those of other hosts. Default true. */
  readonly user?: boolean;
  /** Servers of the host's extensions, by the name of the extension. They come last. Default none. */
  readonly extensions?: Readonly<Record<string, Readonly<Record<string, ServerConfig>>>>;
  /** `false` drops an entry; the start report and `discoverServers` list it. Default: all entries are used. */
  readonly filter?: (entry: FoundEntry, source: FoundSource) => boolean;
}

/** The folder in which the host works: the project lies around it. `working` is the folder that relative names start from. */
export function folderOfHost(
  discover: boolean | DiscoveryOptions | undefined,
  working = process.cwd(),
): string {
  return resolve(working, (typeof discover === 'object' && discover.cwd) || '.');
}
