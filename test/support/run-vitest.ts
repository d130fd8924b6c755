/** Runs tests that were written for a user's project. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs the tests in that folder as a user would who has copied them into a project. */
export async function runVitest(
  dir: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const config = join(dir, 'vitest.config.mjs');
  const alias = {
    'mcp-troupe/testing': join(root, 'src/testing/index.ts'),
    'mcp-troupe': join(root, 'src/index.ts'),
    vitest: join(root, 'node_modules/vitest/dist/index.js'),
  };
  writeFileSync(
    config,
    `export default ${JSON.stringify({ root: dir, resolve: { alias }, test: { include: ['*.test.mjs'], testTimeout: 30_000, isolate: false, fileParallelism: false }, server: { fs: { strict: false } } })};`,
  );
  const bin = join(root, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [bin, 'run', '--config', config], {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 50_000,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, output };
}
