/** What `troupe import` does not write, and what it does not overwrite. What it writes: `e2e/config.test.ts` and `keep-folder.test.ts`. */
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../../../support/run-command.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { FakeStream } from '../../../support/fake-stream.js';
import { stubUser } from '../../../support/stub-user.js';

useLeakCheck();

describe('troupe import', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'troupe-import-'));
    stubUser({ config: join(root, 'config') });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true, force: true });
  });

  it.each([[[]], [['--force']]])('leaves a pipe unchanged, with %j.', async (flags) => {
    const output = join(root, 'pipe');
    execFileSync('mkfifo', [output], { timeout: 10_000 });
    const [stdout, stderr] = [new FakeStream(), new FakeStream()];
    const args = ['import', '--add', 'lamp=lamp', '--output', output, ...flags];
    expect(await run(args, { stdout, stderr, stdin: new PassThrough(), env: {} })).toBe(2);
    expect(stdout.written).toBe('');
    expect(stderr.written).toContain(`troupe: '${output}' `);
    expect(lstatSync(output).isFIFO()).toBe(true);
    expect(readdirSync(root)).toEqual(['pipe']);
  });

  async function imported(...flags: readonly string[]) {
    const [stdout, stderr] = [new FakeStream(), new FakeStream()];
    const code = await run(['import', ...flags], { stdout, stderr, stdin: new PassThrough(), env: {} });
    return { code, stdout: stdout.written, stderr: stderr.written };
  }

  it('leaves out a discovered file that cannot be read, reports it and fails.', async () => {
    stubUser({ home: join(root, 'home') });
    vi.spyOn(process, 'cwd').mockReturnValue(root);
    mkdirSync(join(root, '.cursor'));
    writeFileSync(
      join(root, '.mcp.json'),
      '{ "mcpServers": { "lamp": { "url": "https://lamp.example/" } } }',
    );
    writeFileSync(join(root, '.cursor', 'mcp.json'), '{ "mcpServers": {');
    const output = join(root, 'all.json');
    const { code, stdout, stderr } = await imported('--output', output);
    expect(code).toBe(1);
    expect(stderr).toContain('.cursor/mcp.json:1:18: ');
    expect(stdout).toBe(`1 server written to ${output}\n`);
    expect(
      Object.keys((JSON.parse(readFileSync(output, 'utf8')) as { mcpServers: object }).mcpServers),
    ).toEqual(['lamp']);
  });

  it('writes no file whose extension says TOML, since the output is JSON.', async () => {
    const output = join(root, 'servers.toml');
    const { code, stderr } = await imported('--add', 'lamp=lamp', '--output', output);
    expect(code).toBe(2);
    expect(stderr).toContain(output);
    expect(readdirSync(root)).toEqual([]);
  });
});
