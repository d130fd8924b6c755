/**
 * docs/reference/api: one page for each entry point of the package, made by TypeDoc from the declarations in `dist`.
 *
 * The entry points are those of `exports` in package.json. TypeDoc has its own TypeScript: see decision 36.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application, ReflectionKind } from 'typedoc';
import { cell, page, table } from '../markdown.mjs';
import { failOn } from '../meanings.mjs';
import { addToModel } from './model-additions.mjs';
import { undocumentedIn } from './undocumented.mjs';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const OPTIONS = {
  plugin: [import.meta.resolve('typedoc-plugin-markdown')],
  router: 'module',
  readme: 'none',
  // The declarations were compiled a moment ago.
  skipErrorChecking: true,
  validation: false,
  logLevel: 'Warn',
  disableSources: true,
  excludeInternal: true,
  excludePrivate: true,
  excludeExternals: true,
  hidePageHeader: true,
  hideBreadcrumbs: true,
  hidePageTitle: true,
  useCodeBlocks: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  propertyMembersFormat: 'table',
  typeDeclarationFormat: 'table',
};

/**
 * The pages by name. An entry point without a header comment is an error, and so is a declaration, a member, a parameter or
 * a variant of a union without a description.
 *
 * @param {{ name: string, exports: Record<string, string | { import: { types: string } }> }} manifest package.json
 * @param {{ root?: string, tsconfig?: string }} [package_] where the package is, and the project that has its declarations
 * @returns {Promise<Record<string, string>>}
 */
export async function apiPages(
  { name, exports },
  { root = ROOT, tsconfig = join(root, 'docs/generate/api/tsconfig.json') } = {},
) {
  const entries = await Promise.all(
    Object.entries(exports)
      .filter(([, target]) => typeof target !== 'string')
      .map(
        async ([
          path,
          {
            import: { types },
          },
        ]) => ({
          file: pageName(path),
          specifier: join(name, path),
          types,
          meaning: await meaningOf(root, types),
        }),
      ),
  );
  const app = await Application.bootstrapWithPlugins({
    ...OPTIONS,
    name,
    tsconfig,
    // TypeDoc reads them as globs.
    entryPoints: entries.map(({ types }) => join(root, types).replaceAll(sep, '/')),
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('The declarations in dist cannot be read.');
  nameModules(project, entries);
  failOn('Exported declarations', undocumentedIn(project, await headersOf(root)));
  addToModel(project);
  const texts = await rendered(app, project, entries);
  const pages = Object.fromEntries(
    entries.map(({ file, specifier, meaning }) => [
      `${file}.md`,
      page(specifier, 'the declarations of this entry point', [
        meaning,
        withSureLinks(bodyOf(texts.get(file)), texts),
      ]),
    ]),
  );
  return {
    ...pages,
    'README.md': page('API', '`exports` in package.json', [
      'Every class, function and type that the package exports, by entry point.',
      table(
        ['Import', 'Holds'],
        entries.map(({ file, specifier, meaning }) => [
          `[\`${specifier}\`](${file}.md)`,
          cell(meaning.split('\n\n')[0]),
        ]),
      ),
    ]),
  };
}

/** `.` is named like the package's own index; the others as they are imported. */
function pageName(path) {
  return path === '.' ? 'index' : path.slice(2).replaceAll('/', '-');
}

/** TypeDoc names a module by its path; a page has the name of its entry point. */
function nameModules(project, entries) {
  const modules = project.getChildrenByKind(ReflectionKind.Module);
  for (const { file, specifier, types } of entries) {
    const module = modules.find(
      ({ name: path }) => types.endsWith(`dist/${path}.d.ts`) || types.endsWith(`dist/${path}/index.d.ts`),
    );
    if (module === undefined) {
      throw new Error(`${specifier} has no page: ${modules.map(({ name: path }) => path)}`);
    }
    module.name = file;
  }
}

/** The text of each page, as the theme writes it. It writes only to a folder. */
async function rendered(app, project, entries) {
  const folder = await mkdtemp(join(tmpdir(), 'api-pages-'));
  try {
    await app.outputs.writeOutput({ name: 'markdown', path: folder }, project);
    const texts = entries.map(async ({ file }) => [file, await readFile(join(folder, `${file}.md`), 'utf8')]);
    return new Map(await Promise.all(texts));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Without the comment of the module, which stands above, and without spaces at the ends of lines. */
function bodyOf(text) {
  return text
    .slice(text.search(/^## /m))
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n');
}

/** The theme numbers some links to headings that need no number. */
function withSureLinks(text, texts) {
  return text.replaceAll(/\]\((?:([\w-]+)\.md)?#([\w-]+?)-(\d+)\)/g, (link, file, anchor, number) => {
    const target = file === undefined ? text : texts.get(file);
    const headings = [...target.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => slugOf(heading));
    const same = headings.filter((slug) => slug === anchor).length;
    const isRight =
      same > Number(number) ||
      headings.includes(`${anchor}-${number}`) ||
      target.includes(`id="${anchor}-${number}"`);
    return isRight ? link : link.replace(/-\d+\)$/, ')');
  });
}

/** As GitHub makes it. */
function slugOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

/** The header comment of the source: the compiler drops some. */
async function meaningOf(root, types) {
  const source = sourceOf(types.replace('./dist/', ''));
  const comment = headerIn(await readFile(join(root, source), 'utf8'));
  if (comment === undefined) throw new Error(`${source} has no comment at its head.`);
  return comment
    .split('\n\n')
    .map((text) => text.replaceAll('\n', ' ').trim())
    .join('\n\n');
}

/** TypeDoc takes a header for the comment of what follows, if that has none of its own. */
async function headersOf(root) {
  const names = await readdir(join(root, 'dist'), { recursive: true });
  const sources = names.filter((name) => name.endsWith('.d.ts')).map(sourceOf);
  const texts = await Promise.all(sources.map((source) => readFile(join(root, source), 'utf8')));
  return texts.map(headerIn).filter((header) => header !== undefined);
}

function sourceOf(declarations) {
  return declarations.replace(/\.d\.ts$/, '.ts');
}

/** A comment at the head that no declaration follows immediately. */
function headerIn(source) {
  return /^\/\*\*([^]*?)\*\/\n(?=\n|import |export (?:type )?[{*])/
    .exec(source)?.[1]
    .replaceAll(/^ \* ?/gm, '');
}
