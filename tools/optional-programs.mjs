/**
 * Programs that some tests need and a machine may lack. A test without its program is left out, and the gate reports it.
 *
 * `node tools/optional-programs.mjs` installs what is missing, and fails if something required cannot be had.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const FLEET = 'test/scenario/fleet';

/**
 * `package` is Debian's; absent if Debian has none. `tests` are the names of tests, or what the names of suites begin with.
 * `isRequired`: `.ci/run` fails without it.
 */
export const PROGRAMS = [
  { program: 'zsh', package: 'zsh', tests: ['test/e2e/cli/completion.test.ts > completion works in zsh.'] },
  {
    program: 'fish',
    package: 'fish',
    tests: ['test/e2e/cli/completion.test.ts > completion works in fish.'],
  },
  { program: 'pwsh', tests: ['test/e2e/cli/completion.test.ts > completion works in pwsh.'] },
  {
    program: 'redis-server',
    package: 'redis-server',
    isRequired: true,
    tests: [
      `${FLEET}/engine-contract.test.ts > redis: `,
      `${FLEET}/stores.test.ts > redis: `,
      'test/browser/visualizer-hosts.test.ts > redis: ',
    ],
  },
  {
    program: 'nats-server',
    package: 'nats-server',
    isRequired: true,
    tests: [`${FLEET}/engine-contract.test.ts > nats: `],
  },
  {
    program: 'nginx',
    package: 'nginx-light',
    isRequired: true,
    tests: ['test/e2e/gateway/nginx.test.ts > '],
  },
];

/** Debian puts servers into `sbin`, which the PATH of a user may lack. */
const SBIN = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/** Where a program is; undefined if it is not installed. */
export function programPath(program, path = process.env.PATH ?? '', others = SBIN) {
  const places = [...path.split(delimiter), ...others].map((folder) => join(folder, program));
  return places.find((place) => existsSync(place));
}

const missing = (path = process.env.PATH ?? '', others = SBIN) =>
  PROGRAMS.filter(({ program }) => programPath(program, path, others) === undefined);

/** @returns {readonly { name: string, reason: string, isFile: boolean, matches: (test: string) => boolean }[]} */
export function missingPrograms(path = process.env.PATH ?? '', others = SBIN) {
  return missing(path, others).flatMap(({ program, tests }) =>
    tests.map((name) => ({
      name,
      reason: `${program} is not installed`,
      isFile: false,
      matches: (test) => test === name || (name.endsWith(' ') && test.startsWith(name)),
    })),
  );
}

/** The last words of a run that left tests out: which, and the one command that brings them. Empty if there are none. */
export function adviceFor(leftOut, path = process.env.PATH ?? '', others = SBIN) {
  const absent = missing(path, others).filter(({ program }) =>
    leftOut.some((line) => line.includes(`: ${program} is not installed`)),
  );
  if (absent.length === 0) return [];
  const packages = absent.flatMap((each) => each.package ?? []);
  const names = absent.map(({ program }) => program).join(', ');
  const command = `apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  return [`Tests that need ${names} did not run.${packages.length > 0 ? ` They run after: ${command}` : ''}`];
}

/** Installs what Debian has of the missing programs, if this user may. */
export function installMissing() {
  const packages = missing().flatMap((each) => each.package ?? []);
  if (packages.length === 0 || process.getuid?.() !== 0 || programPath('apt-get') === undefined) return;
  const apt = (...args) => spawnSync('apt-get', ['-qq', ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  apt('update');
  // One by one: a package that this system does not have keeps none of the others away.
  for (const name of packages) apt('install', '-y', '--no-install-recommends', name);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  installMissing();
  const absent = missing().filter(({ isRequired }) => isRequired === true);
  for (const { program } of absent)
    console.error(`${program} is not installed, and its tests must run here.`);
  process.exitCode = absent.length === 0 ? 0 : 1;
}
