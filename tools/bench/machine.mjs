/** The machine and the versions of a measurement. */
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { PACKAGES } from './contenders.mjs';

const PROJECT = new URL('../../', import.meta.url);
const PEERS = new URL('./peers/', import.meta.url);

export function describeMachine() {
  const [first] = cpus();
  return {
    processor: `${cpus().length} × ${first?.model.trim() || 'unknown processor'}`,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version.slice(1),
  };
}

/** Installed versions, by package. */
export function installedVersions() {
  const { version } = JSON.parse(readFileSync(new URL('package.json', PROJECT), 'utf8'));
  return {
    'mcp-troupe': version,
    ...versionsIn(PROJECT, PACKAGES.own),
    ...versionsIn(PEERS, PACKAGES.peers),
  };
}

function versionsIn(folder, packages) {
  const found = packages.flatMap((name) => {
    try {
      const text = readFileSync(new URL(`node_modules/${name}/package.json`, folder), 'utf8');
      return [[name, JSON.parse(text).version]];
    } catch {
      return [];
    }
  });
  return Object.fromEntries(found);
}
