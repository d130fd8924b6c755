/** A file that is read for the command and again for its servers, and that changes in between. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../../support/run-command.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { FakeStream } from '../../support/fake-stream.js';
import { stubUser } from '../../support/stub-user.js';

useLeakCheck();

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-second-'));
  file = join(folder, 'servers.json');
  stubUser({ state: folder });
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** `becomes` runs when the warning about the entry is written, which is between the two readings. */
async function troupe(command: string, becomes: () => void) {
  const entry = { command: 'no-such-command', argz: [] };
  writeFileSync(file, JSON.stringify({ mcpServers: { lamp: entry } }));
  const [stdout, stderr] = [new FakeStream(), new FakeStream()];
  const write = stderr._write.bind(stderr);
  stderr._write = (chunk, encoding, done) => {
    if (String(chunk).includes('argz')) becomes();
    write(chunk, encoding, done);
  };
  const stdin = Readable.from([]);
  const code = await run([command, '--config', file], { stdin, stdout, stderr, env: {} });
  return { code, stdout: stdout.written, stderr: stderr.written };
}

describe.each(['check', 'tools'])('troupe %s', (command) => {
  it.each([
    ['gone', 'there is no such file', () => {}],
    ['a pipe', 'is a pipe; give a file', () => void execFileSync('mkfifo', [file])],
    ['a folder', 'is a folder, not a file', () => mkdirSync(file)],
  ])('fails if the file becomes %s in between, and reports why: %s.', async (_, reason, make) => {
    const { code, stdout, stderr } = await troupe(command, () => {
      rmSync(file);
      make();
    });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`\ntroupe: ${file}: ${reason}\n`);
  });

  it('fails if the file names other servers in between.', async () => {
    const { code, stderr } = await troupe(command, () => writeFileSync(file, '{ "mcpServers": {} }'));
    expect(code).toBe(2);
    expect(stderr).toMatch(/\ntroupe: lamp: missing after the configuration was read again\n$/);
  });
});
