/**
 * Bundles what the package offers, from the sources: a host that imports it reads a few files instead of two hundred.
 * Dependencies stay outside, except for those of `tools/package/bundled.mjs`, and what is imported lazily stays in files of its
 * own. `vite build` writes modules to `dist/bundle`, `vite build --mode commonjs` the same for `require` to `dist/commonjs`.
 *
 * B1. All entry points come from one build, so that a class or a state of a module exists once, whichever are imported.
 * B2. A part (see `PARTS`) holds only what all its roots load anyway: nothing is read before it is needed.
 */
import { fileURLToPath } from 'node:url';
import { esmExternalRequirePlugin } from 'rolldown/plugins';
import { minify } from 'rolldown/utils';
import { defineConfig, type Plugin, type Rolldown } from 'vite';
import manifest from './package.json' with { type: 'json' };
import { IN_COMMONJS, IN_THE_CODE } from './tools/package/bundled.mjs';
import { notices } from './tools/package/notices.js';

type Modules = Pick<Rolldown.ChunkingContext, 'getModuleInfo'>;

const OUT = 'dist/bundle';
const OUT_COMMONJS = 'dist/commonjs';

const entries = Object.values(manifest.exports).filter((each) => typeof each !== 'string');
const LIBRARY = entries.map((each) => pathOf(each.import.default));
/** What servers alone use is published once, as modules. */
const IN_BOTH = entries.flatMap((each) => ('require' in each ? pathOf(each.import.default) : []));
/** The command, and the program that `scriptedProgram` runs. */
const PROGRAMS = [pathOf(manifest.bin.troupe), 'src/testing/scripted-server-main'];

/**
 * What is read together is one file: a module goes to the first part all of whose roots load it. The rest is split as
 * the bundler sees fit.
 */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  light: ['src/cli/program', 'src/index'],
  lines: ['src/cli/program', 'src/transports/stdio/stdio-transport'],
  machines: ['machines/index', 'src/index'],
  common: ['src/index', 'src/event-log/index'],
  troupe: ['src/index'],
  configuration: ['src/servers/load-config'],
  session: ['src/protocol/session-client'],
  transports: ['src/transports/stdio/stdio-transport', 'src/transports/http/streamable-http'],
  stdio: ['src/transports/stdio/stdio-transport'],
};

const inProject = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const sourceOf = (path: string): string => inProject(`${path}.ts`);

/** What bundled CommonJS requires. */
const BUILTINS = ['child_process', 'fs', 'path'];
/** A path, or a module that a plugin makes. */
const NO_PACKAGE = /^(?:[./\0]|builtin:)/;
/** The declarations have the documentation. */
const COMMENTS = { jsdoc: false };

/** The path of a source, without its ending. */
function pathOf(built: string): string {
  return built.slice(`./${OUT}/`.length, -'.js'.length);
}

const loaded = new Map<string, ReadonlySet<string>>();

/** The modules that are read along with one. */
function loadedWith(root: string, modules: Modules): ReadonlySet<string> {
  const known = loaded.get(root);
  if (known !== undefined) return known;
  const found = new Set([root]);
  for (const id of found) for (const each of modules.getModuleInfo(id)?.importedIds ?? []) found.add(each);
  loaded.set(root, found);
  return found;
}

/** Earlier ones come first; a group takes along what its modules load, as far as that is not in one yet. */
const groups = Object.entries(PARTS).map(([part, roots], index) => ({
  name: (id: string, modules: Modules): string | null =>
    roots.every((root) => loadedWith(sourceOf(root), modules).has(id)) ? part : null,
  debugName: part,
  priority: Object.keys(PARTS).length - index,
}));

/** The sign-in of the SDK needs one constant of its `types.js`, which would bring all schemas of the protocol. */
const protocolVersion: Plugin = {
  name: 'protocol-version',
  enforce: 'pre',
  resolveId: (specifier, importer) =>
    specifier === '../types.js' && importer?.includes('/@modelcontextprotocol/sdk/')
      ? sourceOf('src/protocol/server-identity')
      : undefined,
};

/** Bundled packages that are large, and loaded only when they are needed: each is a file of its own, minified. */
const LARGE_PACKAGES: Readonly<Record<string, RegExp>> = {
  'sign-in-packages': /\/node_modules\/(?:@modelcontextprotocol\/sdk|pkce-challenge|zod)\//,
  'yaml-package': /\/node_modules\/yaml\//,
  'jsonc-package': /\/node_modules\/jsonc-parser\//,
  'cross-spawn-package':
    /\/node_modules\/(?:cross-spawn|path-key|shebang-command|shebang-regex|which|isexe)\/|esm-external-require/,
};

/** After the parts: they take along what they load. */
const packages = Object.entries(LARGE_PACKAGES).map(([name, test]) => ({ name, test, priority: 0 }));

/** The names of errors are those of their classes. */
const NAMES_KEPT = { class: true, function: false };
const MINIFIED = { compress: { keepNames: NAMES_KEPT }, mangle: { keepNames: NAMES_KEPT } };
/** Stack traces and errors name the functions of the modules, too. */
const ALL_KEPT = { class: true, function: true };
const ALL_NAMES_KEPT = { compress: { keepNames: ALL_KEPT }, mangle: { keepNames: ALL_KEPT } };

/** The parts, which every host runs, stay as they are: its stack traces lead there. */
const minifiedRest: Plugin = {
  name: 'minified-rest',
  async generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (file.type !== 'chunk' || file.name in PARTS) continue;
      const { code, errors } = await minify(file.fileName, file.code, { ...ALL_NAMES_KEPT, module: true });
      if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
      file.code = code;
    }
  },
};

export default defineConfig(({ mode }) => {
  const isCommonJs = mode === 'commonjs';
  const bundled = isCommonJs ? IN_COMMONJS : [...IN_THE_CODE, ...BUILTINS];
  const isBundled = (specifier: string): boolean =>
    bundled.some((name) => specifier === name || specifier.startsWith(`${name}/`));
  return {
    publicDir: false,
    plugins: [
      protocolVersion,
      ...(isCommonJs ? [] : [notices(IN_COMMONJS), minifiedRest]),
      // A `require` of these becomes an `import`.
      ...(isCommonJs ? [] : [esmExternalRequirePlugin({ external: BUILTINS })]),
    ],
    define: { BUILT_VERSION: JSON.stringify(manifest.version) },
    // The build of `yaml` for browsers consists of modules.
    resolve: { alias: { yaml: inProject('node_modules/yaml/browser/dist/index.js') } },
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir: inProject(isCommonJs ? OUT_COMMONJS : OUT),
      target: 'node20',
      minify: isCommonJs,
      reportCompressedSize: false,
      rolldownOptions: {
        input: Object.fromEntries(
          (isCommonJs ? IN_BOTH : [...LIBRARY, ...PROGRAMS]).map((path) => [path, sourceOf(path)]),
        ),
        external: (specifier) => !NO_PACKAGE.test(specifier) && !isBundled(specifier),
        treeshake: { moduleSideEffects: (id) => !id.includes('/node_modules/') },
        preserveEntrySignatures: 'strict',
        output: isCommonJs
          ? {
              comments: COMMENTS,
              format: 'cjs',
              dynamicImportInCjs: false,
              minify: MINIFIED,
              entryFileNames: '[name].cjs',
              chunkFileNames: 'chunks/[name].cjs',
            }
          : {
              comments: COMMENTS,
              entryFileNames: '[name].js',
              chunkFileNames: 'chunks/[name].js',
              codeSplitting: { groups: [...groups, ...packages] },
            },
      },
    },
  };
});
