/** Name and version of this package, as in the handshake and in the output of the command, and where its files are. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Written into the code by `vite.config.ts`, so that it is known in the bundle of a host as well. */
declare const BUILT_VERSION: string;

interface Manifest {
  readonly name: string;
  readonly version: string;
}

const NAME = 'mcp-troupe';
const ROOT = '/';
const builtVersion = typeof BUILT_VERSION === 'string' ? BUILT_VERSION : undefined;

/**
 * In the bundle of a host there is nothing of this package but its code: then its files are in the package that is installed
 * there. Some bundlers write the address that the code had when they read it; hence the program is asked as well. The working
 * directory is not: anybody's project may be there.
 */
function packageFolder(): string {
  return packageAbove(ownFolder()) ?? packageAbove(dirname(process.argv[1] ?? ROOT)) ?? ROOT;
}

/** Sources and bundles lie at different depths below the manifest. An installed package must be of the same version. */
function packageAbove(from: string): string | undefined {
  const installed = join(from, 'node_modules', NAME);
  if (versionIn(from) !== undefined) return from;
  if (builtVersion !== undefined && versionIn(installed) === builtVersion) return installed;
  const above = dirname(from);
  return above === from ? undefined : packageAbove(above);
}

/** Undefined if this package is not there. */
function versionIn(folder: string): string | undefined {
  try {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
    return name === NAME ? version : undefined;
  } catch {
    return undefined;
  }
}

/** CommonJS has no address of a module. A bundler may have made something else of either. */
function ownFolder(): string {
  try {
    return typeof __dirname === 'string' ? __dirname : dirname(fileURLToPath(import.meta.url));
  } catch {
    return ROOT;
  }
}

export const PACKAGE = {
  name: NAME,
  version: builtVersion ?? versionIn(packageFolder()) ?? '0.0.0',
} as const;

/** The place of a file that comes with this package, given as a path in it. Nothing is there if it is not installed. */
export const inPackage = (path: string): string => join(packageFolder(), path);
