/** Installs a published server in a folder of its own, and makes the entry that starts it. */
import { execFile } from 'node:child_process';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const LIMIT_MS = 10 * 60_000;
/** The only variables that a server inherits, so that it gets no secret of the user. */
const KEPT = ['PATH', 'LANG', 'TMPDIR', 'SystemRoot', 'PATHEXT', 'ComSpec'];

/** Rejects if it cannot be installed. The packages stay for the next run. */
export async function install({ name, package: id, version, bin, args = [], env = {}, node }, folder) {
  const home = join(folder, `${name}@${version}`);
  const program = join(home, 'node_modules', '.bin', bin);
  if (!(await isThere(program))) {
    await mkdir(home, { recursive: true });
    await writeFile(join(home, 'package.json'), JSON.stringify({ private: true }));
    const packages = [`${id}@${version}`, ...(node === undefined ? [] : [`node@${node}`])];
    await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], {
      cwd: home,
      timeout: LIMIT_MS,
      shell: process.platform === 'win32',
      env: { ...process.env, PUPPETEER_SKIP_DOWNLOAD: '1', PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1' },
    });
    if (!(await isThere(program))) throw new Error(`${id}@${version} has no program '${bin}'`);
  }
  const kept = Object.fromEntries(KEPT.flatMap((key) => (process.env[key] ? [[key, process.env[key]]] : [])));
  const own = { ...kept, HOME: home, ...env };
  if (node === undefined) return { command: program, args, cwd: home, env: own };
  const newer = join(home, 'node_modules', 'node', 'bin', 'node');
  return { command: newer, args: [program, ...args], cwd: home, env: own };
}

async function isThere(path) {
  return access(path).then(
    () => true,
    () => false,
  );
}
