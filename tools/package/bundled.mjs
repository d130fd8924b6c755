/** The packages whose code the published package holds. `notices.txt` beside that code has their licenses. */

/** What signs in. */
const SIGN_IN = ['@modelcontextprotocol/sdk', 'pkce-challenge', 'zod'];

/** CommonJS, with its own dependencies: what it requires has no meaning in a module that the bundler of a host writes. */
const REQUIRING = [
  ...['cross-spawn', 'isexe', 'path-key', 'shebang-command', 'shebang-regex', 'which'],
  ...['jsonc-parser', 'yaml'],
];

/** Bundled into `dist/bundle`. */
export const IN_THE_CODE = [...SIGN_IN, ...REQUIRING];

/** Bundled into `dist/commonjs`: also what no `require` can load without Node's help, in Jest for instance. */
export const IN_COMMONJS = [
  ...IN_THE_CODE,
  ...['chokidar', 'env-paths', 'is-safe-filename', 'jose', 'p-limit', 'readdirp', 'stemmer', 'yocto-queue'],
];

/** Bundled into the inspection page. */
export const IN_THE_PAGE = ['preact', 'xstate', 'elkjs'];
