/**
 * Installs the packed package into an empty folder and uses it there as a user would: with plain Node, with the
 * production build of XState, and with the strictest compiler settings. `smoke.mjs [TARBALL]`; packs one itself if none
 * is given.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { emptyProject, install, run, tarballIn } from './install.mjs';

const CHECK_LIMIT_MS = 60_000;
const MAX_BYTES = 5_000_000;
const MAX_PACKAGES = 50;
const NOT_SHIPPED = /\.(?:map|svg|png|jpe?g|gif|webp|avif|ico)$/;
const project = fileURLToPath(new URL('../..', import.meta.url));
const { version, peerDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
const folder = emptyProject('smoke');

const checks = {
  'it is at most 5 MB, without source maps and pictures': () => {
    const shipped = join(folder, 'node_modules', 'mcp-troupe');
    const names = readdirSync(shipped, { recursive: true });
    const files = names.filter((name) => statSync(join(shipped, name)).isFile());
    const unwanted = files.filter((name) => NOT_SHIPPED.test(name));
    if (unwanted.length > 0) throw new Error(`it ships ${unwanted.join(', ')}`);
    const bytes = files.reduce((sum, name) => sum + statSync(join(shipped, name)).size, 0);
    if (bytes > MAX_BYTES) throw new Error(`it is ${bytes} bytes`);
  },
  'it brings at most 50 packages, and none with an install script': () => {
    const lock = readFileSync(join(folder, 'node_modules', '.package-lock.json'), 'utf8');
    const packages = Object.entries(JSON.parse(lock).packages);
    if (packages.length > MAX_PACKAGES) throw new Error(`it brings ${packages.length} packages`);
    const scripted = packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([place]) => place);
    if (scripted.length > 0) throw new Error(`${scripted.join(', ')} run a script when they are installed`);
  },
  'npm installs it beside the oldest and the newest version of each peer': () => {
    const peers = Object.entries(peerDependencies).map(([name, range]) => ({
      name,
      ranges: range.split(' || '),
    }));
    for (const end of [0, -1]) {
      install(folder, '--dry-run', ...peers.map(({ name, ranges }) => `${name}@${ranges.at(end)}`));
    }
  },
  'every entry point loads': () => node('import-every-entry-point.mjs'),
  'the adapters load beside their frameworks': () => {
    const nats = ['jetstream', 'kv', 'transport-node'].map((name) => `@nats-io/${name}`);
    for (const framework of ['ai', 'langchain', '@langchain/core', '@redis/client', ...nats]) link(framework);
    node('import-every-entry-point.mjs');
  },
  'the command knows its version': () => {
    const printed = troupe('--version').trim();
    if (printed !== version) throw new Error(`it printed '${printed}', the package is ${version}`);
  },
  'the command explains itself': () => {
    const help = troupe('--help');
    const missing = ['Usage', 'up', 'check', 'tools', 'call'].filter((word) => !help.includes(word));
    if (missing.length > 0) throw new Error(`its help does not mention ${missing.join(', ')}:\n${help}`);
  },
  'the command checks a server of the examples and lists its tools': () => {
    const server = 'node ./node_modules/mcp-troupe/docs/examples/business-data-server/server.mjs --stdio';
    troupe('check', '--add', `data=${server}`);
    const tools = troupe('tools', '--add', `data=${server}`);
    if (!tools.includes('describeCategory')) throw new Error(`it lists:\n${tools}`);
  },
  'the page is served with all its files': () => node('read-the-page.mjs'),
  'a server of the SDK in the process is called, and nothing keeps the process': () => {
    for (const name of ['@modelcontextprotocol/sdk', 'zod']) link(name);
    node('call-in-process-server.mjs');
  },
  'what needs no XState compiles with exactOptionalPropertyTypes, without skipLibCheck and without the DOM':
    () => tsc('tsconfig.root.json'),
  "what is built on './machines' and './xstate' can be declared": () => tsc('tsconfig.machines.json'),
};

function node(...args) {
  return run(folder, process.execPath, args, CHECK_LIMIT_MS);
}

function troupe(...args) {
  return run(folder, join(folder, 'node_modules', '.bin', 'troupe'), args, CHECK_LIMIT_MS);
}

function tsc(config) {
  const typeRoots = join(project, 'node_modules', '@types');
  return node(
    join(project, 'node_modules', 'typescript', 'bin', 'tsc'),
    '-p',
    config,
    '--typeRoots',
    typeRoots,
  );
}

/** Installs a package of the project for the user. */
function link(name) {
  const place = join(folder, 'node_modules', name);
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(join(project, 'node_modules', name), place);
}

function explain(error) {
  const { stdout = '', stderr = '', signal } = error;
  return [error.message, signal ? `ended by ${signal}: it did not exit by itself` : '', stdout, stderr]
    .filter((text) => text !== '')
    .join('\n');
}

let failed = 0;
try {
  cpSync(join(project, 'tools', 'package', 'consumer'), folder, { recursive: true });
  install(folder, tarballIn(folder, process.argv[2]));

  for (const [name, check] of Object.entries(checks)) {
    try {
      check();
      console.log(`ok      ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}\n${explain(error)}`);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;
