/**
 * The packages whose code is in the bundle. They cannot be loaded from the bundle of a host: they are CommonJS, and what they
 * `require` has no meaning in a module that a bundler writes. An installation does not bring them.
 */
export const INSIDE = ['cross-spawn', 'jsonc-parser', 'yaml'];

/** In the CommonJS build also those that only `import` can load. An installation brings them. */
export const INSIDE_COMMONJS = [...INSIDE, 'chokidar', 'env-paths', 'jose', 'p-limit'];
