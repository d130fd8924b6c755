/**
 * Runs the tests of the machines with one mutant after another, in a warm process.
 *
 * Receives `{ id, path, text, files }` over IPC and answers `{ id, caughtBy, how }`; `caughtBy` is null if every test
 * passed. The parent process kills this one if a mutant hangs.
 */
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createVitest } from 'vitest/node';

const project = fileURLToPath(new URL('../..', import.meta.url));
/** Far more than a test needs on a busy machine, because a slow test would count as a catch. */
const TEST_LIMIT_MS = 120_000;

/** The replaced source file; undefined if there is none. */
let mutant;
let order = [];

const swap = {
  name: 'mutant',
  enforce: 'pre',
  load: (id) => (id === mutant?.path ? mutant.text : undefined),
};

/** Runs the files in the requested order. */
class InGivenOrder {
  shard(specs) {
    return specs;
  }
  sort(specs) {
    return specs.toSorted((a, b) => order.indexOf(a.moduleId) - order.indexOf(b.moduleId));
  }
}

const vitest = await createVitest(
  'test',
  {
    config: join(project, 'test/vitest.base.config.ts'),
    root: project,
    watch: false,
    reporters: [{}],
    pool: 'threads',
    isolate: false,
    maxWorkers: 1,
    fileParallelism: false,
    bail: 1,
    testTimeout: TEST_LIMIT_MS,
    setupFiles: [join(project, 'tools/mutants/no-shrinking.ts')],
    sequence: { sequencer: InGivenOrder },
    coverage: { enabled: false },
  },
  { plugins: [swap], logLevel: 'silent' },
);

async function run(files) {
  order = files.map((file) => join(project, file));
  const specs = order.map((file) => vitest.getRootProject().createSpecification(file));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specs);
  const failed = testModules.find((module) => module.state() === 'failed');
  if (failed !== undefined) return { caughtBy: relative(project, failed.moduleId), how: whatFailed(failed) };
  if (unhandledErrors.length > 0) return { caughtBy: 'an unhandled error', how: String(unhandledErrors[0]) };
  return { caughtBy: null, how: '' };
}

function whatFailed(module) {
  for (const test of module.children.allTests('failed')) {
    return `${test.fullName}: ${test.result().errors?.[0]?.message.split('\n')[0] ?? ''}`;
  }
  return module.errors()[0]?.message ?? '';
}

process.on('message', async ({ id, path, text, files }) => {
  const before = mutant?.path;
  mutant = path === null ? undefined : { path: join(project, path), text };
  for (const file of new Set([before, mutant?.path])) if (file !== undefined) vitest.invalidateFile(file);
  try {
    process.send({ id, ...(await run(files)) });
  } catch (error) {
    process.send({ id, caughtBy: 'the runner', how: String(error) });
  }
});
process.on('disconnect', () => process.exit());
process.send({ id: null });
