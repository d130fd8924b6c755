/** docs/reference/runtimes.md: what passed in each runtime, from the results of `npm run runtimes`. */
import { page, table } from './markdown.mjs';

const NAMES = { node: 'Node', bun: 'Bun', deno: 'Deno' };

/** @param {{ name: string, version: string, date: string, smoke?: Counts, tests?: Counts, faults?: Counts }[]} results */
export function runtimesPage(results) {
  return page('Runtimes', 'tools/runtimes/results.json', [
    `What passed in the last whole run of \`npm run runtimes\` in each runtime, on Linux: the tests of this project with every
program that they start, the smoke suite (a host that uses the built package), and the fault kit (misbehaving servers, each with the
outcome that it must have). The tests need vitest, which runs in Node alone. A part of this in Node 24, Bun and Deno belongs to
\`npm test\`; the hosted CI runs the same commands on Linux, macOS and Windows.`,
    table(
      ['Runtime', 'Version', 'Tests', 'Smoke suite', 'Fault kit', 'Date'],
      results.map(({ name, version, tests, smoke, faults, date }) => [
        NAMES[name.replace(/\d+$/, '')],
        version,
        shown(tests),
        shown(smoke),
        shown(faults),
        date,
      ]),
    ),
  ]);
}

/** @typedef {{ passed: number, failed: number }} Counts @param {Counts | undefined} counts */
function shown(counts) {
  if (counts === undefined) return '–';
  const passed = counts.passed.toLocaleString('en-US');
  return counts.failed === 0 ? `${passed} passed` : `${passed} passed, ${counts.failed} failed`;
}
