/** What `troupe import` does not write to. What it writes: `e2e/config.test.ts` and `keep-folder.test.ts`. */
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../../src/cli/program.js';
import { useLeakCheck } from '../support/leak-check.js';
import { FakeStream } from './fake-stream.js';

useLeakCheck();

describe('troupe import', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'troupe-import-'));
    vi.stubEnv('XDG_CONFIG_HOME', join(root, 'config'));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true, force: true });
  });

  it.each([[[]], [['--force']]])('leaves a pipe what it is, with %j.', async (flags) => {
    const output = join(root, 'pipe');
    execFileSync('mkfifo', [output], { timeout: 10_000 });
    const [stdout, stderr] = [new FakeStream(), new FakeStream()];
    const args = ['import', '--add', 'lamp=lamp', '--output', output, ...flags];
    expect(await run(args, { stdout, stderr, stdin: new PassThrough(), env: {} })).toBe(2);
    expect(stdout.written).toBe('');
    expect(stderr.written).toBe(`troupe: ${output}: cannot be written (it is there and is no file)\n`);
    expect(lstatSync(output).isFIFO()).toBe(true);
    expect(readdirSync(root)).toEqual(['pipe']);
  });
});
