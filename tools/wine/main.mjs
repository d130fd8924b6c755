/** The command that runs tests with the Windows build of Node, on Debian; see `HELP`. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { follow } from './follow.mjs';
import { leftOut } from './left-out.mjs';
import { WineMachine } from './machine.mjs';
import { judge } from './judge.mjs';

const HELP = `Usage: npm run wine -- [--folder DIR] [--node VERSION] [--all] [TEST]...

Runs tests with node.exe in wine 10, in a chroot of Debian 13: for what differs on Windows, and not a replacement for it.
Needs root, Debian or Ubuntu, and about 3 GB. The first run takes five minutes more, for the chroot and the packages for Windows.

  TEST            files or folders of tests (default: test/unit)
  --folder DIR    where the chroot and the copy of the project are kept; default: troupe-wine in the temporary folder
  --node VERSION  version of Node (default 22.23.3)
  --all           runs the tests that are left out as well, and tells which of them pass
  --help          print this

Tests that cannot pass there are listed in tools/wine/left-out.json, by the reason; hosted CI on Windows skips those under
"windows" as well. Exits with 0 if every other test passes and every test in the list exists, otherwise with 1.`;

/** Of the longest test file, with its start, several times. */
const SILENCE_MS = 300_000;
const REPORT = 'tests.json';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string', default: join(tmpdir(), 'troupe-wine') },
    node: { type: 'string', default: '22.23.3' },
    all: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
if (process.platform !== 'linux' || process.getuid() !== 0 || !existsSync('/etc/debian_version')) {
  console.error('npm run wine needs root on Debian or Ubuntu: it makes a chroot');
  process.exit(1);
}

const machine = new WineMachine(values.folder, fileURLToPath(new URL('../..', import.meta.url)));
await machine.prepare();
const node = machine.fetchNode(values.node);
machine.copyProject();

const report = machine.onDrive(REPORT);
rmSync(report, { force: true });
const tests = positionals.length > 0 ? positionals : ['test/unit'];
const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=C:/${REPORT}`];
const command = [node, ...vitest, ...reporters, ...tests].join(' ');
const { child, ended } = machine.start(command, { TROUPE_WINE: values.all ? 'all' : 'yes' });
await follow(machine.log, { child, ended, silenceMs: SILENCE_MS });
if (!existsSync(report)) {
  console.error('FAILED  the tests did not end');
  process.exit(1);
}
const { lines, isGood } = judge(JSON.parse(readFileSync(report, 'utf8')), leftOut('yes'));
console.log(lines.join('\n'));
process.exitCode = isGood ? 0 : 1;
