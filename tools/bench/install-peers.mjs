/** Installs the peers outside the project by their lockfile when they are measured. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('./peers', import.meta.url));
const LIMIT_MS = 10 * 60_000;

/** @returns {string | undefined} why they cannot be installed */
export function installPeers(report) {
  const lock = createHash('sha256')
    .update(readFileSync(join(FOLDER, 'package-lock.json')))
    .digest('hex');
  const stamp = join(FOLDER, 'node_modules', '.installed');
  if (read(stamp) === lock) return undefined;
  report('Installing the peers into tools/bench/peers/node_modules (about 600 MB, once) …');
  // Without install scripts and optional dependencies, which a client does not need.
  const flags = ['ci', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, stderr, error } = spawnSync('npm', flags, {
    cwd: FOLDER,
    encoding: 'utf8',
    timeout: LIMIT_MS,
  });
  if (status !== 0)
    return (error?.message ?? stderr ?? '').trim().split('\n')[0] || `npm ended with ${status}`;
  mkdirSync(join(FOLDER, 'node_modules'), { recursive: true });
  writeFileSync(stamp, lock);
  return undefined;
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
