/**
 * Compiles a strict program against the packed declarations, without the types of the DOM and with `skipLibCheck: false`: with
 * each way to resolve modules, two versions of TypeScript, and each supported version of `@types/node`.
 *
 *     node tools/package/types.mjs [TARBALL] [--write]
 *
 * Packs one itself if no tarball is given; needs `dist` then. Exits with 1 if something does not compile. `--write` keeps
 * what compiles for the reference (`figures.json`).
 */
import { copyFileSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keepFigures } from './figures.mjs';
import { emptyProject, install, run, tarballIn } from './install.mjs';

const CHECK_LIMIT_MS = 120_000;
const COMPILERS = ['5.9', '7'];
const NODE_TYPES = ['20', '22', '24', '26'];
const NEWEST = { compiler: '7', node: '26' };
const STRICT = [
  ...['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'],
  ...[
    '--noPropertyAccessFromIndexSignature',
    '--skipLibCheck',
    'false',
    '--target',
    'ES2023',
    '--lib',
    'ES2023',
  ],
];
/** By the name of the way. */
const WAYS = {
  nodenext: { module: 'nodenext', file: 'root.mts' },
  'nodenext, CommonJS': { module: 'nodenext', file: 'root.cts' },
  node16: { module: 'node16', file: 'root.mts' },
  'node16, CommonJS': { module: 'node16', file: 'root.cts' },
  bundler: { module: 'esnext', resolution: 'bundler', file: 'root.mts' },
};

const folder = emptyProject('types');

/** One folder for each version, as the compiler expects them. */
function layOut() {
  const consumer = fileURLToPath(new URL('consumer/root.ts', import.meta.url));
  for (const file of ['root.mts', 'root.cts']) copyFileSync(consumer, join(folder, file));
  for (const version of NODE_TYPES) {
    mkdirSync(join(folder, 'types', version), { recursive: true });
    const installed = join(folder, 'node_modules', `types-node-${version}`);
    symlinkSync(installed, join(folder, 'types', version, 'node'));
  }
}

/** What the compiler says; undefined if it is content. */
function complaint({ compiler, node }, { module, resolution = module, file }) {
  const tsc = join(folder, 'node_modules', `typescript-${compiler}`, 'bin', 'tsc');
  const resolving = ['--module', module, '--moduleResolution', resolution];
  const types = ['--types', 'node', '--typeRoots', join(folder, 'types', node)];
  try {
    run(folder, process.execPath, [tsc, ...STRICT, ...resolving, ...types, file], CHECK_LIMIT_MS);
    return undefined;
  } catch (error) {
    return error.stdout || error.message;
  }
}

/** The ways with the newest versions and with the oldest compiler, and the usual way with each version of the types of Node. */
function* matrix() {
  for (const compiler of COMPILERS) {
    for (const way of Object.keys(WAYS)) yield { versions: { ...NEWEST, compiler }, way };
  }
  for (const node of NODE_TYPES) {
    if (node !== NEWEST.node) yield { versions: { ...NEWEST, node }, way: 'nodenext' };
  }
}

const words = process.argv.slice(2);
const compiled = [];
let failed = 0;
try {
  const aliases = [
    ...COMPILERS.map((version) => `typescript-${version}@npm:typescript@${version}`),
    ...NODE_TYPES.map((version) => `types-node-${version}@npm:@types/node@${version}`),
  ];
  install(
    folder,
    tarballIn(
      folder,
      words.find((word) => !word.startsWith('--')),
    ),
    ...aliases,
  );
  layOut();
  for (const { versions, way } of matrix()) {
    const said = complaint(versions, WAYS[way]);
    if (said === undefined) compiled.push({ ...versions, way });
    else failed += 1;
    const line = `TypeScript ${versions.compiler}, @types/node ${versions.node}, ${way}`;
    console.log(said === undefined ? `ok      ${line}` : `FAILED  ${line}\n${said}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (words.includes('--write')) keepFigures('types', compiled);
process.exitCode = failed === 0 ? 0 : 1;
