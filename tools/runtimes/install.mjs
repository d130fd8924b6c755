/** Fetches the binary of a runtime from its npm package, in an exact version, once. No install script is run. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The path of the binary. Throws an error that says what to do if it cannot be fetched. */
export function install({ name, package: id, version, binary }, folder) {
  const place = join(folder, `${name}-${version}`);
  const file = join(place, 'node_modules', ...id.split('/'), ...binary.split('/'));
  if (existsSync(file)) return file;
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), '{ "private": true }');
  const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  try {
    execFileSync('npm', ['install', `${id}@${version}`, ...flags], {
      cwd: place,
      stdio: 'pipe',
      encoding: 'utf8',
    });
  } catch (error) {
    throw new Error(
      `${id}@${version} cannot be installed; is the npm registry within reach?\n${error.stderr}`,
      {
        cause: error,
      },
    );
  }
  chmodSync(file, 0o755);
  return file;
}
