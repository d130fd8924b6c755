/** The packed package, installed into an empty project as its users do. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const INSTALL_LIMIT_MS = 5 * 60_000;
const QUIET = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the path of the tarball. Needs `npm run build`. */
export function pack(folder) {
  const packed = run(folder, 'npm', ['pack', PROJECT, '--ignore-scripts', '--json'], INSTALL_LIMIT_MS);
  return join(folder, JSON.parse(packed)[0].filename);
}

/**
 * Makes a project in a new folder and installs packages into it: tarballs, or names with a version. `files` is a folder
 * whose content is copied into it, `manifest` its `package.json`.
 */
export function makeProject({ packages, files, manifest = { type: 'module' } }) {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-project-'));
  if (files !== undefined) cpSync(files, folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, ...manifest }));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    run(folder, 'npm', ['install', ...packages, ...QUIET], INSTALL_LIMIT_MS);
  } catch (error) {
    remove();
    throw error;
  }
  return { folder, remove, run: (command, args, limitMs) => run(folder, command, args, limitMs) };
}

/** Returns what the command prints; throws if it fails or does not end in time. */
function run(cwd, command, args, timeout) {
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout,
    killSignal: 'SIGKILL',
    stdio: 'pipe',
    maxBuffer: 64 * 1_024 * 1_024,
  });
}

/** What a failed command printed, for people. */
export function explain(error) {
  const { stdout = '', stderr = '', signal } = error;
  return [error.message, signal ? `ended by ${signal}: it did not exit by itself` : '', stdout, stderr]
    .filter((text) => text !== '')
    .join('\n');
}
