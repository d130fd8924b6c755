/**
 * What a host can be built with or loaded by.
 *
 * A bundler turns `projects/host/host.mjs` into the folder `out`, whose `entry` is run by Node or by `with`. `packages` are
 * the ones to install; the first names the version that is reported. `isQuick` cases are part of the gate, which takes the
 * packages of this project. `type` is that of the project.
 */
const FLAGS = ['--bundle', '--platform=node', '--target=node20', '--log-level=warning'];
const ROLLUP = ['@rollup/plugin-node-resolve', '@rollup/plugin-commonjs', '@rollup/plugin-json'];
const NEXT = ['next', 'react', 'react-dom', 'ai'];

export const BUNDLERS = [
  {
    name: 'esbuild, ESM',
    isQuick: true,
    packages: ['esbuild'],
    build: ['esbuild', 'host.mjs', ...FLAGS, '--format=esm', '--outfile=out/host.mjs'],
    entry: 'host.mjs',
  },
  {
    name: 'esbuild, CommonJS',
    isQuick: true,
    packages: ['esbuild'],
    build: ['esbuild', 'host.mjs', ...FLAGS, '--format=cjs', '--outfile=out/host.cjs'],
    entry: 'host.cjs',
  },
  {
    name: 'esbuild, from `require`',
    packages: ['esbuild'],
    build: ['esbuild', 'mixed.cjs', ...FLAGS, '--format=cjs', '--outfile=out/host.cjs'],
    entry: 'host.cjs',
  },
  {
    name: 'rolldown, ESM',
    isQuick: true,
    packages: ['rolldown'],
    build: ['rolldown', 'host.mjs', '--platform', 'node', '--dir', 'out', '--entry-file-names', '[name].mjs'],
    entry: 'host.mjs',
  },
  {
    name: 'rolldown, CommonJS',
    packages: ['rolldown'],
    build: [
      ...['rolldown', 'host.mjs', '--platform', 'node', '--format', 'cjs', '--dir', 'out'],
      ...['--entry-file-names', '[name].cjs', '--chunk-file-names', '[name].cjs'],
    ],
    entry: 'host.cjs',
  },
  {
    name: 'Vite, SSR',
    packages: ['vite'],
    build: ['vite', 'build', '--logLevel', 'warn'],
    entry: 'host.mjs',
  },
  {
    name: 'rollup',
    packages: ['rollup', ...ROLLUP],
    build: ['rollup', '--config', 'rollup.config.mjs', '--silent'],
    entry: 'host.mjs',
  },
  {
    name: 'webpack, CommonJS',
    packages: ['webpack', 'webpack-cli'],
    build: ['webpack', '--stats', 'errors-warnings'],
    entry: 'host.cjs',
  },
  {
    name: 'webpack, ESM',
    packages: ['webpack', 'webpack-cli'],
    build: ['webpack', '--stats', 'errors-warnings', '--env', 'module'],
    entry: 'host.mjs',
  },
  {
    name: 'ncc',
    packages: ['@vercel/ncc'],
    build: ['ncc', 'build', 'host.mjs', '--out', 'out', '--quiet'],
    entry: 'index.mjs',
  },
  {
    name: 'Bun, for Node',
    packages: ['bun'],
    build: ['bun', 'build', 'host.mjs', '--target=node', '--outfile=out/host.mjs'],
    entry: 'host.mjs',
  },
  {
    name: 'Bun, for Bun',
    packages: ['bun'],
    build: ['bun', 'build', 'host.mjs', '--target=bun', '--outfile=out/host.js'],
    entry: 'host.js',
    // By itself Bun would install what is missing.
    with: ['bun', '--no-install'],
  },
  { name: 'Next.js, Turbopack', isNext: true, packages: NEXT, build: ['next', 'build'] },
  { name: 'Next.js, webpack', isNext: true, packages: NEXT, build: ['next', 'build', '--webpack'] },
  {
    name: 'Next.js, external',
    isNext: true,
    packages: NEXT,
    build: ['next', 'build'],
    isExternal: true,
  },
];

/** Programs that load the package without a bundle. */
export const RUNNERS = [
  { name: 'Node, `require` and `import`', isQuick: true, packages: [], run: ['node', 'one-copy.cjs'] },
  {
    name: 'Jest',
    isQuick: true,
    packages: ['jest'],
    run: ['jest', '--testMatch', '**/host.test.cjs', '--ci'],
  },
  { name: 'Mocha', packages: ['mocha'], run: ['mocha', 'host.test.cjs', '--timeout', '20000'] },
  {
    name: 'tsx, CommonJS',
    packages: ['tsx', '@types/node'],
    type: 'commonjs',
    run: ['tsx', 'typed.ts'],
  },
  {
    name: 'ts-node, CommonJS',
    packages: ['ts-node', 'typescript@5', '@types/node@20'],
    type: 'commonjs',
    run: ['ts-node', 'typed.ts'],
  },
  { name: 'Bun, `require` and `import`', packages: ['bun'], run: ['bun', 'one-copy.cjs'] },
  { name: 'Deno, `require` and `import`', packages: ['deno'], run: ['deno', 'run', '-A', 'one-copy.cjs'] },
];

/** The page on Docker, followed without Docker. */
export const CONTAINERS = [{ name: 'Dockerfile of the guide', packages: [] }];
