/** What holds for every run of the tests, however their files share processes. */
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { LEFT_OUT } from './support/left-out.js';
import { WAIT_LIMIT_MS } from './support/time-limit.js';
import { isolatedUser } from './support/user-variables.js';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    environment: 'node',
    // Neither the user's files nor what an earlier test left there change what a test sees, nor are they changed.
    env: { TROUPE_CACHE: 'off', ...isolatedUser(join(tmpdir(), `troupe-tests-${process.pid}`)) },
    setupFiles: LEFT_OUT.length > 0 ? ['test/support/leave-out.setup.ts'] : [],
    exclude: [...configDefaults.exclude, ...LEFT_OUT.flatMap(({ name, isFile }) => (isFile ? [name] : []))],
    pool: 'forks',
    // By itself vitest would use one worker of two cores.
    maxWorkers: Math.max(2, availableParallelism()),
    globals: false,
    allowOnly: false,
    passWithNoTests: false,
    // On a busy machine a test may take long. Only one that fails takes as long as this.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: WAIT_LIMIT_MS } },
    teardownTimeout: 10_000,
    coverage: { provider: 'v8', include: ['src/**', 'machines/**'], reportsDirectory: 'coverage' },
  },
});
