/** A command fails if its output cannot be written. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';

const MAIN = fileURLToPath(new URL('../../../dist/bundle/src/cli/main.js', import.meta.url));

describe('troupe', () => {
  useLeakCheck();

  it('fails with a reason if its output cannot be written.', async () => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [MAIN, 'machine', 'connection'], {
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    const [stderr, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
    expect(stderr).toMatch(/^troupe: the output could not be written: .*ENOSPC/);
    expect(code).toBe(1);
  });
});
