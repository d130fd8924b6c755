import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.base.config.js';

const folder = fileURLToPath(new URL('.', import.meta.url));
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.test.ts') && !path.includes('node_modules'),
);
const replacesModules = (path: string): boolean =>
  /^vi\.mock\(/m.test(readFileSync(join(folder, path), 'utf8'));
const inTest = (path: string): string => `test/${path}`;

// A process for each file would take as long as half of the tests. What replaces a module needs one of its own, since
// others want the real one.
export default mergeConfig(
  base,
  defineConfig({
    test: {
      projects: [
        { extends: true, test: { name: 'apart', include: files.filter(replacesModules).map(inTest) } },
        {
          extends: true,
          test: {
            name: 'together',
            include: files.filter((path) => !replacesModules(path)).map(inTest),
            isolate: false,
          },
        },
      ],
    },
  }),
);
