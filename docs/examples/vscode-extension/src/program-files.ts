/** Where the programs of the servers are: in the extension, in the checkout it is part of, or installed in a workspace. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerId } from './settings.js';

const BUSINESS_DATA = 'business-data-server/server.mjs';
const GATEWAY = 'dist/bundle/src/cli/main.js';
const INSTALLED = 'node_modules/mcp-troupe';

/** In the order in which they are looked at. The gateway is the workspace's own where it has one. */
export function placesOf(id: ServerId, extensionPath: string, folders: readonly string[]): readonly string[] {
  const checkout = join(extensionPath, '../../..');
  if (id === 'troupe')
    return [...folders.map((folder) => join(folder, INSTALLED, GATEWAY)), join(checkout, GATEWAY)];
  return [
    join(extensionPath, BUSINESS_DATA),
    join(extensionPath, '..', BUSINESS_DATA),
    ...folders.map((folder) => join(folder, INSTALLED, 'docs/examples', BUSINESS_DATA)),
  ];
}

export function firstFile(places: readonly string[]): string | undefined {
  return places.find((place) => existsSync(place));
}

/** For the person who misses the server. */
export function howToGet(id: ServerId): string {
  return id === 'troupe'
    ? 'The Troupe gateway was not found. Run `npm install mcp-troupe` in the workspace.'
    : 'The business data server was not found. Run `npm run vscode:prepublish` in the folder of the extension, or `npm install mcp-troupe` in the workspace.';
}
