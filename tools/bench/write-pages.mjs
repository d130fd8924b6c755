/** Writes the committed files: results, the page, the pictures and the figures of the scale page. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { benchmarkPage } from './benchmark-page.mjs';
import { fillMarkers } from './fill-markers.mjs';
import { plot } from './plot.mjs';
import { scaleBlocks } from './scale-blocks.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RESULTS = 'tools/bench/results.json';
const SCALE = 'docs/explanation/scale.md';

/** The results of a file, by default the committed ones; undefined if there are none. */
export async function committedResults(file = join(ROOT, RESULTS)) {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** @returns the committed texts, by path */
export async function pagesOf(results, scenarios) {
  const pictures = scenarios
    .filter((scenario) => scenario.plot !== undefined)
    .map((scenario) => ({ name: scenario.name, text: plot(scenario, results) }))
    .filter(({ text }) => text !== undefined);
  const names = pictures.map(({ name }) => name);
  const blocks = scaleBlocks(
    scenarios.find(({ name }) => name === 'scale'),
    results,
  );
  const files = {
    [RESULTS]: JSON.stringify(results),
    'docs/benchmarks.md': benchmarkPage(results, scenarios, { pictures: names }),
    ...Object.fromEntries(pictures.map(({ name, text }) => [`docs/images/bench-${name}.svg`, text])),
    ...(blocks === undefined
      ? {}
      : { [SCALE]: fillMarkers(await readFile(join(ROOT, SCALE), 'utf8'), blocks) }),
  };
  const texts = Object.entries(files).map(async ([path, text]) => [
    path,
    await formatted(join(ROOT, path), text),
  ]);
  return Object.fromEntries(await Promise.all(texts));
}

/** @returns the written paths */
export async function writePages(results, scenarios) {
  const files = await pagesOf(results, scenarios);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(ROOT, path)), { recursive: true });
    await writeFile(join(ROOT, path), text);
  }
  return Object.keys(files);
}

/** Formats pages and data with the formatter of the project; pictures stay unchanged. */
async function formatted(path, text) {
  if (path.endsWith('.svg')) return text;
  return format(text, { ...(await resolveConfig(path)), filepath: path });
}
