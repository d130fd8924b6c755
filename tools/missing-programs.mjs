/**
 * Programs that are no packages of npm and that some tests need. Tests whose program this machine lacks are left out, and reported.
 *
 * `node tools/missing-programs.mjs --install` installs what is missing if it may: as root, with the packages of Debian. With
 * `--required`, it fails if a program that CI requires is missing afterwards.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const COMPLETION = 'test/e2e/cli/completion.test.ts > completion works in';

/** `tests` is the name of a test, or the beginning of several. Without a package, Debian has none. */
const PROGRAMS = [
  { program: 'zsh', package: 'zsh', tests: `${COMPLETION} zsh.` },
  { program: 'fish', package: 'fish', tests: `${COMPLETION} fish.` },
  { program: 'pwsh', tests: `${COMPLETION} pwsh.` },
  { program: 'nginx', package: 'nginx-light', tests: 'test/e2e/gateway/nginx.test.ts > ', isRequired: true },
];
/** Debian keeps servers there, and the PATH of users may lack it. */
const SYSTEM = '/usr/sbin';

function missing(path) {
  const folders = [...path.split(delimiter), SYSTEM];
  return PROGRAMS.filter(({ program }) => !folders.some((folder) => existsSync(join(folder, program))));
}

/** @returns {readonly { name: string, reason: string, isFile: boolean, matches: (test: string) => boolean }[]} */
export function missingPrograms(path = process.env.PATH ?? '') {
  return missing(path).map(({ program, package: name, tests }) => {
    const how = name === undefined ? '' : `; apt-get install ${name} brings it`;
    return {
      name: tests,
      reason: `${program} is not installed${how}`,
      isFile: false,
      matches: (test) => test.startsWith(tests),
    };
  });
}

/** Never throws: what cannot be installed is still missing. */
export function installMissing(path = process.env.PATH ?? '') {
  const packages = missing(path).flatMap(({ package: name }) => name ?? []);
  if (packages.length === 0 || process.getuid?.() !== 0) return;
  const apt = (...args) =>
    execFileSync('apt-get', ['-qq', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  try {
    apt('update');
    apt('install', '-y', '--no-install-recommends', ...packages);
  } catch {
    console.error(`${packages.join(', ')} cannot be installed; their tests are left out.`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  if (process.argv.includes('--install')) installMissing();
  const lacking = missing(process.env.PATH ?? '').filter(({ isRequired }) => isRequired);
  if (process.argv.includes('--required') && lacking.length > 0) {
    console.error(`CI needs ${lacking.map(({ program }) => program).join(', ')}.`);
    process.exitCode = 1;
  }
}
