/** Name and version of this package, as in the handshake and in the output of the command, and where its files are. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Manifest {
  readonly name: string;
  readonly version: string;
}

interface PackageLocation {
  readonly folder: string;
  readonly manifest: Manifest;
}

const NAME = 'mcp-troupe';
/** In the bundle of a host there may be nothing of this package but its code. */
const UNKNOWN: PackageLocation = { folder: '/', manifest: { name: NAME, version: '0.0.0' } };

/** Sources and bundles lie at different depths below the manifest. */
function findPackage(folder: string): PackageLocation {
  const manifest = readManifest(folder);
  if (manifest?.name === NAME) return { folder, manifest };
  const above = dirname(folder);
  return above === folder ? UNKNOWN : findPackage(above);
}

function readManifest(folder: string): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  } catch {
    return undefined;
  }
}

/** Undefined if a host's bundler has turned this into something other than a module. */
function ownFolder(): string | undefined {
  try {
    return dirname(fileURLToPath(import.meta.url));
  } catch {
    return undefined;
  }
}

const own = ownFolder();
const { folder, manifest } = own === undefined ? UNKNOWN : findPackage(own);

export const PACKAGE = { name: manifest.name, version: manifest.version } as const;

/** The place of a file that comes with this package, given as a path in it. */
export const inPackage = (path: string): string => join(folder, path);
