/** The suite of the sample host passes, against the built package, within the time that a suite of a host should take. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';

const folder = fileURLToPath(new URL('../../../docs/examples/tested-host/', import.meta.url));

describe('the sample host', () => {
  useLeakCheck();

  it('passes its suite, which takes every transition.', { timeout: 120_000 }, () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, ['--test', 'host.test.mjs'], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    expect(`${stdout}${stderr}`).toMatch(/connection chart: (\d+) of \1 transitions taken/);
    expect([status, stdout.match(/^# fail \d+$/m)?.[0] ?? stdout.match(/fail 0/)?.[0]]).toEqual([
      0,
      expect.stringMatching(/fail 0/),
    ]);
    const tests = readFileSync(`${folder}host.test.mjs`, 'utf8').match(/^ +it\(/gm) ?? [];
    expect(tests.length).toBeGreaterThan(8);
  });
});
