/** Name and version of this package, as the handshake and the command tell them. */
import { readFileSync } from 'node:fs';

interface Manifest {
  readonly name: string;
  readonly version: string;
}

/** The manifest lies two folders above the emitted `dist/src`, one above the sources. */
function readManifest(): Manifest {
  for (const place of ['../../package.json', '../package.json']) {
    try {
      const manifest = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as Manifest;
      if (manifest.name === 'mcp-troupe') return manifest;
    } catch {
      continue;
    }
  }
  return { name: 'mcp-troupe', version: '0.0.0' };
}

const manifest = readManifest();

export const PACKAGE = { name: manifest.name, version: manifest.version } as const;
