/** The packed package, and empty projects to install it into. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const INSTALL_LIMIT_MS = 5 * 60_000;
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** A folder with a package.json and nothing else. @param {string} name Part of its name. */
export function emptyProject(name) {
  const folder = mkdtempSync(join(tmpdir(), `troupe-${name}-`));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  return folder;
}

/** The given tarball, or the package as it is built, packed into the folder. */
export function tarballIn(folder, given) {
  if (given !== undefined) return resolve(given);
  const packed = run(folder, 'npm', ['pack', PROJECT, '--ignore-scripts', '--json'], INSTALL_LIMIT_MS);
  return join(folder, JSON.parse(packed)[0].filename);
}

/** Installs packages as a user would; throws if npm reports a conflict. */
export function install(folder, ...packages) {
  run(
    folder,
    'npm',
    ['install', ...packages, '--prefer-offline', '--no-audit', '--no-fund'],
    INSTALL_LIMIT_MS,
  );
}

/** Runs a command in the folder and returns what it printed. */
export function run(folder, command, args, timeout) {
  return execFileSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout,
    killSignal: 'SIGKILL',
    stdio: 'pipe',
  });
}
