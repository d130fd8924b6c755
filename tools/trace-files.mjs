/**
 * Finds the files through which something passes, such as the report that a process has exited. See `--help`.
 *
 * Calls follow imports, callbacks go against them, and two files without an import between them are linked by a third
 * file that imports both. Two files that import the same file are not linked by it.
 *
 * A page lists a trace as numbered steps under a heading, which may set a limit. If no import links a step to the
 * previous one, the step names the files that do: the file that wires both, or a port that both know. Those are not steps
 * and do not count.
 *
 *   ### A process exits (at most 12 files)
 *
 *   1. `src/a.ts` gets the exit event.
 *   2. `src/b.ts` (by way of `src/c.ts`) publishes it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { graphOf, readFiles } from './import-graph.mjs';

const USAGE = `Usage: node tools/trace-files.mjs FILE FILE [FILE…]
       node tools/trace-files.mjs --check PAGE.md

Prints the shortest chain of imports and callbacks from the first file to the last, through all of them; or checks the
traces that a page lists.

  --check PAGE.md  the page to check
  --help           this text

Exit codes: 0 no problem found, 1 a problem found, 2 wrong arguments.
`;

const HEADING = /^#+ (.+?)(?: \(at most (\d+) files\))?$/;
const STEP = /^\d+\. `([^`]+\.ts)`(?: \(by way of ([^)]+)\))?/;
const FILE = /`([^`]+)`/g;

/** The shortest chain of links through every point; undefined if there is none. */
export function shortestChain(graph, points) {
  const importers = importersIn(graph);
  const [first, ...others] = points;
  let chain = [{ file: first }];
  for (const point of others) {
    const part = shortestPart(graph, importers, chain.at(-1).file, point);
    if (part === undefined) return undefined;
    chain = [...chain, ...part];
  }
  return chain;
}

/** After an import of a file, no importer of it may follow: see the header. */
function shortestPart(graph, importers, from, to) {
  const queue = [{ file: from, chain: [] }];
  const seen = new Set([from]);
  for (const { file, chain } of queue) {
    if (file === to) return chain;
    const imported = filesImportedBy(graph, file).map((next) => ({ file: next, link: 'imports' }));
    const importing = (importers.get(file) ?? []).map((next) => ({ file: next, link: 'is imported by' }));
    for (const step of chain.at(-1)?.link === 'imports' ? imported : [...importing, ...imported]) {
      const state = `${step.link} ${step.file}`;
      if (seen.has(state)) continue;
      seen.add(state);
      queue.push({ file: step.file, chain: [...chain, step] });
    }
  }
  return undefined;
}

/** The traces on a page, each with its title, its limit (if there is one) and its steps. */
export function tracesIn(markdown) {
  const traces = [];
  let heading = { title: '', limit: undefined };
  let steps;
  for (const line of markdown.split('\n')) {
    const [, title, limit] = HEADING.exec(line) ?? [];
    const [, file, way = ''] = STEP.exec(line) ?? [];
    if (title !== undefined) {
      heading = { title, limit: limit === undefined ? undefined : Number(limit) };
      steps = undefined;
    }
    if (file === undefined) continue;
    if (steps === undefined) {
      steps = [];
      traces.push({ ...heading, steps });
    }
    steps.push({ file, way: [...way.matchAll(FILE)].map(([, between]) => between) });
  }
  return traces;
}

/** The problems of a trace, as sentences. */
export function problemsOf(graph, { title, limit, steps }) {
  const files = new Set(steps.map(({ file }) => file));
  const missing = [...files].filter((file) => !graph.has(file)).map((file) => `There is no file ${file}.`);
  const chain = steps.flatMap(({ file, way }) => [...way, file]);
  const unlinked = chain
    .slice(1)
    .map((file, index) => [chain[index], file])
    .filter(([before, file]) => !areLinked(graph, before, file))
    .map(([before, file]) => `Nothing links ${before} and ${file}.`);
  const isLong = limit !== undefined && files.size > limit;
  const long = isLong ? [`${files.size} files are more than ${limit}.`] : [];
  return [...missing, ...unlinked, ...long].map((problem) => `${title}: ${problem}`);
}

function areLinked(graph, one, other) {
  return (
    one === other ||
    filesImportedBy(graph, one).includes(other) ||
    filesImportedBy(graph, other).includes(one)
  );
}

function filesImportedBy(graph, file) {
  return (graph.get(file) ?? []).map(({ specifier }) => specifier).filter((path) => graph.has(path));
}

function importersIn(graph) {
  const importers = new Map();
  for (const file of graph.keys()) {
    for (const imported of filesImportedBy(graph, file)) {
      importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  }
  return importers;
}

const ownGraph = () => graphOf(readFiles(['src', 'machines'], '.ts'));

/** The problems of a page, as sentences. */
function check(page) {
  const traces = tracesIn(readFileSync(page, 'utf8'));
  if (traces.length === 0) return [`${page} lists no trace.`];
  for (const { title, steps } of traces) console.log(`${steps.length} steps: ${title}`);
  const graph = ownGraph();
  return traces.flatMap((trace) => problemsOf(graph, trace));
}

function trace(files) {
  const graph = ownGraph();
  const unknown = files.filter((file) => !graph.has(file));
  if (unknown.length > 0) return unknown.map((file) => `There is no file ${file}.`);
  const chain = shortestChain(graph, files);
  if (chain === undefined) return ['Nothing links these files.'];
  for (const { file, link } of chain) console.log(link === undefined ? file : `  ${link} ${file}`);
  console.log(`${new Set(chain.map(({ file }) => file)).size} files`);
  return [];
}

/** Throws for wrong arguments. */
function read(args) {
  const options = { check: { type: 'string' }, help: { type: 'boolean', default: false } };
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const { check: page, help } = values;
  if (help) return { help };
  if (page === undefined && positionals.length < 2)
    throw new Error('Two files or --check PAGE.md are required.');
  if (page === undefined) return { files: positionals };
  if (positionals.length > 0) throw new Error('--check takes one page and no other file.');
  if (!existsSync(page)) throw new Error(`The page ${page} does not exist.`);
  return { page };
}

/** Returns the exit code. */
function main(args) {
  let settings;
  try {
    settings = read(args);
  } catch (error) {
    console.error(`${error.message}\n\n${USAGE}`);
    return 2;
  }
  const { help, page, files } = settings;
  if (help) {
    console.log(USAGE);
    return 0;
  }
  const problems = page === undefined ? trace(files) : check(page);
  for (const problem of problems) console.error(problem);
  return problems.length === 0 ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  process.exitCode = main(process.argv.slice(2));
