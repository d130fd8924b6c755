/**
 * Bundles what the package offers, from the sources: a host that imports it reads a few files instead of two hundred.
 * Dependencies stay outside, and what is imported lazily stays in files of its own. `vite build` writes modules to
 * `dist/bundle`, `vite build --mode commonjs` the same for `require` to `dist/commonjs`.
 *
 * B1. All entry points come from one build, so that a class or a state of a module exists once, whichever are imported.
 * B2. A part (see `PARTS`) holds only what all its roots load anyway: nothing is read before it is needed.
 * B3. A dependency that cannot be loaded from the bundle of a host is inside (`tools/package/inside.mjs`).
 */
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { esmExternalRequirePlugin } from 'rolldown/plugins';
import { defineConfig, type Rolldown } from 'vite';
import manifest from './package.json' with { type: 'json' };
import { INSIDE, INSIDE_COMMONJS } from './tools/package/inside.mjs';

type Modules = Pick<Rolldown.ChunkingContext, 'getModuleInfo'>;

const OUT = 'dist/bundle';
const OUT_COMMONJS = 'dist/commonjs';

const LIBRARY = Object.values(manifest.exports).flatMap((each) =>
  typeof each === 'string' ? [] : pathOf(each.import.default),
);
/** The command, and the program that `scriptedProgram` runs. */
const PROGRAMS = [pathOf(manifest.bin.troupe), 'src/testing/scripted-server-main'];

/**
 * What is read together is one file: a module goes to the first part all of whose roots load it. The rest is split as
 * the bundler sees fit.
 */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  machines: ['machines/index', 'src/index'],
  common: ['src/index', 'src/event-log/index'],
  troupe: ['src/index'],
  configuration: ['src/servers/load-config'],
  session: ['src/protocol/session-client'],
  transports: ['src/transports/stdio/stdio-transport', 'src/transports/http/streamable-http'],
  stdio: ['src/transports/stdio/stdio-transport'],
};

/** What `cross-spawn` and its dependencies require. */
/** The declarations have it. */
const WITHOUT_DOCUMENTATION = { jsdoc: false };
const BUILTINS = ['child_process', 'fs', 'path'];

const inProject = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const sourceOf = (path: string): string => inProject(`${path}.ts`);
const isPackage = (specifier: string): boolean => /^[^./]/.test(specifier) && !specifier.startsWith('\0');
const packageOf = (specifier: string): string => (/^(?:@[^/]+\/)?[^/]+/.exec(specifier) ?? [''])[0];

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

export default defineConfig(({ mode }) => {
  const isCommonJs = mode === 'commonjs';
  const inside = new Set(isCommonJs ? INSIDE_COMMONJS : INSIDE);
  const isRequired = (specifier: string): boolean => !isCommonJs && BUILTINS.includes(specifier);
  const isInside = (specifier: string, importer: string): boolean =>
    importer.includes('/node_modules/') || inside.has(packageOf(specifier));
  return {
    publicDir: false,
    plugins: isCommonJs ? [] : [esmExternalRequirePlugin({ external: BUILTINS })],
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
      license: { fileName: 'licenses.md' },
      rolldownOptions: {
        input: Object.fromEntries(
          [...LIBRARY, ...(isCommonJs ? [] : PROGRAMS)].map((path) => [path, sourceOf(path)]),
        ),
        external: (specifier, importer = '') =>
          isPackage(specifier) &&
          !(isBuiltin(specifier) ? isRequired(specifier) : isInside(specifier, importer)),
        preserveEntrySignatures: 'strict',
        output: isCommonJs
          ? {
              comments: WITHOUT_DOCUMENTATION,
              format: 'cjs',
              dynamicImportInCjs: false,
              keepNames: true,
              entryFileNames: '[name].cjs',
              chunkFileNames: 'chunks/[name].cjs',
            }
          : {
              comments: WITHOUT_DOCUMENTATION,
              entryFileNames: '[name].js',
              chunkFileNames: 'chunks/[name].js',
              codeSplitting: { groups },
            },
      },
    },
  };
});
