/**
 * Installs the packed package into an empty folder and uses it there as a user would: with plain Node, with the
 * production build of XState, and with the strictest compiler settings. `smoke.mjs [TARBALL]`; packs one itself if none
 * is given.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { explain, makeProject, pack, PROJECT } from './empty-project.mjs';

const CHECK_LIMIT_MS = 60_000;
const MAX_BYTES = 5_000_000;
const NOT_SHIPPED = /\.(?:map|svg|png|jpe?g|gif|webp|avif|ico)$/;
const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
const scratch = mkdtempSync(join(tmpdir(), 'troupe-smoke-'));
const project = makeProject({
  packages: [process.argv[2] === undefined ? pack(scratch) : resolve(process.argv[2])],
  files: join(PROJECT, 'tools', 'package', 'consumer'),
});
const { folder } = project;

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
  'every entry point loads': () => node('import-every-entry-point.mjs'),
  'the adapters load beside their frameworks': () => {
    for (const framework of ['ai', 'langchain', '@langchain/core']) link(framework);
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
  'an in-process server is called, and nothing keeps the process': () => node('call-in-process-server.mjs'),
  "'.' compiles with exactOptionalPropertyTypes and without skipLibCheck": () => tsc('tsconfig.root.json'),
  "what is built on './machines' can be declared": () => tsc('tsconfig.machines.json'),
};

function node(...args) {
  return project.run(process.execPath, args, CHECK_LIMIT_MS);
}

function troupe(...args) {
  return project.run(join(folder, 'node_modules', '.bin', 'troupe'), args, CHECK_LIMIT_MS);
}

function tsc(config) {
  const typeRoots = join(PROJECT, 'node_modules', '@types');
  return node(
    join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc'),
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
  symlinkSync(join(PROJECT, 'node_modules', name), place);
}

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    check();
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${explain(error)}`);
  }
}
project.remove();
rmSync(scratch, { recursive: true, force: true });
process.exitCode = failed === 0 ? 0 : 1;
