/** The commands where tools are known from an earlier run. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL, fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../../support/run-command.js';
import { useInotify } from '../../support/inotify.js';
import { stubUser } from '../../support/stub-user.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { FakeStream } from '../../support/fake-stream.js';

const SMALL_SERVER = fileURLToPath(new URL('../../../tools/bench/small-server.mjs', import.meta.url));

/** Creates the file `started` when it starts; has one more tool if the file `more` exists. */
const SERVER = `
import { existsSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { answer } from ${JSON.stringify(pathToFileURL(SMALL_SERVER).href)};
const [started, more] = process.argv.slice(2);
writeFileSync(started, '');
createInterface(process.stdin).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined) return;
  const reply = answer(message);
  if (message.method === 'tools/list' && existsSync(more)) reply.result.tools.push({ ...reply.result.tools[0], name: 'more' });
  process.stdout.write(JSON.stringify(reply) + '\\n');
});`;

describe('a lazy server whose tools are cached', () => {
  useInotify();
  useLeakCheck();
  let folder: string;
  const path = (name: string): string => join(folder, name);

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-cli-cache-'));
    vi.stubEnv('TROUPE_CACHE', path('cache'));
    stubUser({ config: path('config') });
    writeFileSync(path('server.mjs'), SERVER);
    const args = [path('server.mjs'), path('started'), path('more')];
    const lazy = { command: process.execPath, args, start: 'lazy' };
    writeFileSync(path('servers.json'), JSON.stringify({ mcpServers: { lazy } }));
    expect(await troupe('tools')).toMatchObject({ code: 0 });
    expect(wasStarted()).toBe(true);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  function wasStarted(): boolean {
    const started = existsSync(path('started'));
    rmSync(path('started'), { force: true });
    return started;
  }

  async function troupe(...words: readonly string[]) {
    const [stdout, stderr] = [new FakeStream(), new FakeStream()];
    const all = [...words, '--config', path('servers.json'), '--no-color'];
    const code = await run(all, { stdout, stderr, stdin: Readable.from([]), env: {} });
    return { code, stdout: stdout.written, stderr: stderr.written };
  }

  it('is listed without being started.', async () => {
    const { code, stdout, stderr } = await troupe('tools');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('lazy (10 tools)');
    expect(JSON.parse((await troupe('tools', '--json')).stdout)).toHaveLength(10);
    expect(wasStarted()).toBe(false);
  });

  it('is started by a call, and by a call of a tool that is not in the cache.', async () => {
    expect(await troupe('call', 'lazy/tool_1', 'text=hello')).toMatchObject({ code: 0 });
    expect(wasStarted()).toBe(true);
    writeFileSync(path('more'), '');
    expect(await troupe('call', 'mcp__lazy__more', 'text=hello')).toMatchObject({ code: 0, stderr: '' });
  });

  it('is named to a person who names only its tool.', async () => {
    const { code, stderr } = await troupe('call', 'tool_1');
    expect([code, wasStarted()]).toEqual([2, false]);
    expect(stderr).toContain("did you mean 'lazy/tool_1'?");
  });

  it('is started by a call of a tool that it does not have, and then named in the error.', async () => {
    const { code, stderr } = await troupe('call', 'lazy/other');
    expect(code).toBe(2);
    expect(stderr).toContain("no tool of lazy is called 'lazy/other'");
    expect(wasStarted()).toBe(true);
  });

  it('that no longer starts fails a call with the cause.', async () => {
    writeFileSync(path('server.mjs'), 'process.exit(3)');
    const { code, stderr } = await troupe('call', 'lazy/tool_1', 'text=hello');
    expect(code).toBe(1);
    expect(stderr).toMatch(/✗ lazy .*exited with code 3/);
    expect(await troupe('check')).toMatchObject({ code: 1 });
  });

  it('that no longer starts lists no tools if its entry became eager, in text and in JSON.', async () => {
    const config = JSON.parse(readFileSync(path('servers.json'), 'utf8')) as {
      mcpServers: { lazy: { start: string } };
    };
    config.mcpServers.lazy.start = 'eager';
    writeFileSync(path('servers.json'), JSON.stringify(config));
    writeFileSync(path('server.mjs'), 'process.exit(3)');
    expect(await troupe('tools')).toMatchObject({ code: 1, stdout: '' });
    const { code, stdout } = await troupe('tools', '--json');
    expect([code, JSON.parse(stdout)]).toEqual([1, []]);
  });
});
