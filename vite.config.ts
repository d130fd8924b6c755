/**
 * Bundles what the package offers, from the sources, into `dist/bundle`: a host that imports it reads a few files instead of
 * two hundred. Dependencies stay outside, except for those of which a small part is used, and what is imported lazily stays in
 * files of its own.
 *
 * B1. All entry points come from one build, so that a class or a state of a module exists once, whichever are imported.
 * B2. A part (see `PARTS`) holds only what all its roots load anyway: nothing is read before it is needed.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin, type Rolldown } from 'vite';
import manifest from './package.json' with { type: 'json' };
import { IN_THE_CODE } from './tools/package/bundled.mjs';
import { notices } from './tools/package/notices.js';

type Modules = Pick<Rolldown.ChunkingContext, 'getModuleInfo'>;

const OUT = 'dist/bundle';

/** What the manifest names, and the program that `scriptedProgram` runs. */
const ENTRY_POINTS = [
  ...Object.values(manifest.exports).flatMap((each) => (typeof each === 'string' ? [] : each.default)),
  manifest.bin.troupe,
  `./${OUT}/src/testing/scripted-server-main.js`,
].map((path) => path.slice(`./${OUT}/`.length, -'.js'.length));

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

const inProject = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const sourceOf = (path: string): string => inProject(`${path}.ts`);
const isBundled = (specifier: string): boolean =>
  IN_THE_CODE.some((name) => specifier === name || specifier.startsWith(`${name}/`));
const isOutside = (specifier: string): boolean => !/^[./]/.test(specifier) && !isBundled(specifier);

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

export default defineConfig({
  publicDir: false,
  plugins: [protocolVersion, notices(IN_THE_CODE)],
  ssr: { noExternal: [...IN_THE_CODE] },
  build: {
    ssr: true,
    outDir: inProject(OUT),
    target: 'node20',
    minify: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: Object.fromEntries(ENTRY_POINTS.map((path) => [path, sourceOf(path)])),
      external: isOutside,
      treeshake: { moduleSideEffects: (id) => !id.includes('/node_modules/') },
      preserveEntrySignatures: 'strict',
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: 'chunks/[name].js',
        codeSplitting: { groups },
        // The declarations have them.
        comments: { jsdoc: false },
      },
    },
  },
});
