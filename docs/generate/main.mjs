/**
 * Writes the generated files of docs/machines and docs/reference from the built package and the sources.
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
import {
  classify,
  connectionMachine,
  DEFAULT_POLICY,
  FAILURE_CODES,
  managerMachine,
  reviewMachine,
} from 'mcp-troupe/machines';
import { format, resolveConfig } from 'prettier';
import { errorsPage } from './errors-page.mjs';
import { eventsPage } from './events-page.mjs';
import { machineFiles } from './machine-pages.mjs';
import { optionsPage } from './options-page.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path) => readFile(join(ROOT, path), 'utf8');

async function generate() {
  const machines = {
    ...(await machineFiles(connectionMachine)),
    ...(await machineFiles(managerMachine)),
    ...(await machineFiles(reviewMachine)),
  };
  const reference = {
    'options.md': optionsPage(
      {
        options: await read('src/options.ts'),
        policy: await read('machines/policy/policy.ts'),
        gateway: await Promise.all(
          ['gateway-options', 'serve-http-options', 'serve-stdio', 'drain'].map((name) =>
            read(`src/gateway/${name}.ts`),
          ),
        ),
      },
      DEFAULT_POLICY,
    ),
    'errors.md': errorsPage(
      { errors: await read('src/errors.ts'), failure: await read('machines/policy/failure.ts') },
      { codes: FAILURE_CODES, classify },
    ),
    'events.md': eventsPage(await read('src/lifecycle/event.ts')),
    'mcp.schema.json': JSON.stringify(CONFIG_SCHEMA),
  };
  const inFolder = (folder, files) =>
    Object.entries(files).map(([name, text]) => ({ path: `docs/${folder}/${name}`, text }));
  const files = [...inFolder('machines', machines), ...inFolder('reference', reference)];
  return Promise.all(files.map(formatted));
}

/** Pages and data look as the formatter of the project wants them; charts are left as they were written. */
async function formatted({ path, text }) {
  if (!/\.(md|json)$/.test(path)) return { path, text };
  const options = await resolveConfig(join(ROOT, path));
  return { path, text: await format(text, { ...options, filepath: path }) };
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
