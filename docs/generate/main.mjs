/**
 * Writes the generated files of docs/machines, docs/reference, docs/decisions and docs/explanation from the built package
 * and the sources.
 *
 *     node docs/generate/main.mjs           writes them
 *     node docs/generate/main.mjs --check   exits with 1 and names the files that differ
 *
 * Needs `dist`.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CONFIG_SCHEMA } from 'mcp-troupe';
import * as machinesEntry from 'mcp-troupe/machines';
import { format, resolveConfig } from 'prettier';
import { ENTRY_FIELDS } from '../../dist/src/config/entry/entry-fields.js';
import { apiPages } from './api/api-pages.mjs';
import { commandOutputPage, commandOutputSchema } from './api/command-output.mjs';
import { bundlersPage } from './bundlers-page.mjs';
import { decisionsPage, readDecisions } from './decisions-page.mjs';
import { errorsPage } from './errors-page.mjs';
import { eventsPage } from './events-page.mjs';
import { layersSvg } from './layers-svg.mjs';
import { machineFiles } from './machine-pages.mjs';
import { manPage } from './man-page.mjs';
import { optionsPage } from './options-page.mjs';
import { packagePage } from './package-page.mjs';
import { graphOf, readFiles } from '../../tools/import-graph.mjs';
import { IN_THE_CODE, IN_THE_PAGE } from '../../tools/package/bundled.mjs';
import { readFigures } from '../../tools/package/figures.mjs';
import { runtimesPage } from './runtimes-page.mjs';
import { statusPage } from './status-page.mjs';
import { toolSearchPage } from './tool-search-page.mjs';

const WIDEST_DATA = 400;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path) => readFile(join(ROOT, path), 'utf8');

/** Where the options of a troupe and the entries of its servers are declared. */
const OPTION_FILES = [
  'src/options.ts',
  'src/config/entry/server-config.ts',
  'src/config/files/discover-options.ts',
  'src/trust/trust-request.ts',
  'src/review/review-option.ts',
];

async function generate() {
  const manifest = JSON.parse(await read('package.json'));
  const { classify, DEFAULT_POLICY, REMOTE_POLICY, FAILURE_CODES, ...exported } = machinesEntry;
  const charts = Object.entries(exported).filter(([name]) => name.endsWith('Machine'));
  const machines = Object.assign(
    {},
    ...(await Promise.all(charts.map(([, machine]) => machineFiles(machine)))),
  );
  const reference = {
    'options.md': optionsPage(
      {
        options: (await Promise.all(OPTION_FILES.map(read))).join('\n'),
        policy: await read('machines/policy/policy.ts'),
        gateway: await Promise.all(
          ['gateway-options', 'http/serve-http-options', 'stdio/serve-stdio', 'drain'].map((name) =>
            read(`src/gateway/${name}.ts`),
          ),
        ),
      },
      { local: DEFAULT_POLICY, remote: REMOTE_POLICY },
      ENTRY_FIELDS,
    ),
    'errors.md': errorsPage(
      { errors: await read('src/errors.ts'), failure: await read('machines/policy/failure.ts') },
      { codes: FAILURE_CODES, classify },
    ),
    'events.md': eventsPage(await read('src/lifecycle/event.ts')),
    'status.md': statusPage({
      status: await read('src/lifecycle/status.ts'),
      details: await read('src/lifecycle/status-details.ts'),
      states: await read('machines/connection/connection.states.ts'),
    }),
    'bundlers.md': bundlersPage(JSON.parse(await read('tools/bundlers/results.json'))),
    'runtimes.md': runtimesPage(JSON.parse(await read('tools/runtimes/results.json'))),
    'package.md': packagePage({
      manifest,
      installed: JSON.parse(await read('package-lock.json')).packages,
      bundled: { code: IN_THE_CODE, page: IN_THE_PAGE },
      ...readFigures(),
    }),
    'tool-search.md': await toolSearchPage(),
    'mcp.schema.json': JSON.stringify(CONFIG_SCHEMA),
    'command-output.md': commandOutputPage(),
    'command-output.schema.json': JSON.stringify(commandOutputSchema()),
    'troupe.1': manPage(manifest),
  };
  const explanation = { 'layers.svg': await layersSvg(graphOf(readFiles(['src', 'machines'], '.ts'))) };
  const api = await apiPages(manifest);
  const inFolder = (folder, files) =>
    Object.entries(files).map(([name, text]) => ({ path: `docs/${folder}/${name}`, text }));
  const decisions = { 'README.md': decisionsPage(await readDecisions(join(ROOT, 'docs/decisions'))) };
  const files = [
    ...inFolder('machines', machines),
    ...inFolder('reference', reference),
    ...inFolder('reference/api', api),
    ...inFolder('decisions', decisions),
    ...inFolder('explanation', explanation),
  ];
  return Promise.all(files.map(formatted));
}

/**
 * Pages and data look as the formatter of the project wants them, except that tables of the reference are not aligned: they
 * are too wide, and half of a page would be spaces. Charts and the pages on the API are left as they were written.
 */
async function formatted({ path, text }) {
  if (!/\.(md|json)$/.test(path) || path.includes('/reference/api/')) return { path, text };
  const options = await resolveConfig(join(ROOT, path));
  // Data is packed, and a line for each part is enough to see what changes.
  const width = path.endsWith('.json') ? { printWidth: WIDEST_DATA } : {};
  const page = await format(text, { ...options, ...width, filepath: path });
  return { path, text: path.startsWith('docs/reference/') ? withoutPadding(page) : page };
}

function withoutPadding(page) {
  return page.replace(/^\|.*\|$/gm, (row) => row.replace(/ +\|/g, ' |').replace(/-{4,}/g, '---'));
}

async function write(files) {
  for (const { path, text } of files) {
    await mkdir(dirname(join(ROOT, path)), { recursive: true });
    await writeFile(join(ROOT, path), text);
  }
}

async function check(files) {
  const committed = await Promise.all(files.map(({ path }) => read(path).catch(() => null)));
  const different = files.filter(({ text }, index) => committed[index] !== text).map(({ path }) => path);
  if (different.length === 0) return;
  console.error(`Out of date; run npm run docs:\n  ${different.join('\n  ')}`);
  process.exitCode = 1;
}

const files = await generate();
await (process.argv.includes('--check') ? check(files) : write(files));
