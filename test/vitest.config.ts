import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.base.config.js';

const folder = fileURLToPath(new URL('.', import.meta.url));
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.test.ts') && !path.includes('node_modules'),
);
const textOf = (path: string): string => readFileSync(join(folder, path), 'utf8');
/** It replaces a module, which other files want as it is, or counts what is on the heap, which other files fill. */
const needsOwnProcess = (path: string): boolean =>
  /^vi\.mock\(|from '(?:node:v8|[^']*\/heap\.js)'/m.test(textOf(path));
/** Patterns are written with slashes. */
const inTest = (path: string): string => `test/${path.replaceAll('\\', '/')}`;

// A process for each file would double the time of the suite, so only the files that need one get it.
export default mergeConfig(
  base,
  defineConfig({
    test: {
      projects: [
        { extends: true, test: { name: 'apart', include: files.filter(needsOwnProcess).map(inTest) } },
        {
          extends: true,
          test: {
            name: 'together',
            include: files.filter((path) => !needsOwnProcess(path)).map(inTest),
            isolate: false,
          },
        },
      ],
    },
  }),
);
