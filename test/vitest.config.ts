import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A process for each file takes as long as half of the tests. What replaces a module needs one, for others want the real one. */
const replacing = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'))
  .map((path) => `test/${path}`)
  .filter((path) => /^vi\.mock\(/m.test(readFileSync(join(root, path), 'utf8')));

export default defineConfig({
  root,
  test: {
    environment: 'node',
    // Neither the user's files nor what an earlier test left there change what a test sees, nor are they changed.
    env: { TROUPE_CACHE: 'off', XDG_CONFIG_HOME: join(tmpdir(), `troupe-tests-${process.pid}`) },
    pool: 'forks',
    // By itself vitest would use one worker of two cores.
    maxWorkers: 2,
    globals: false,
    allowOnly: false,
    passWithNoTests: false,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    teardownTimeout: 10_000,
    coverage: { provider: 'v8', include: ['src/**', 'machines/**'], reportsDirectory: 'coverage' },
    projects: [
      { extends: true, test: { name: 'apart', include: replacing } },
      {
        extends: true,
        test: {
          name: 'together',
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...replacing],
        },
      },
    ],
  },
});
