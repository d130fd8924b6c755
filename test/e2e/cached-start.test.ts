/** Fifty real programs with cached tools, which are usable before a program has answered or without starting any. */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL, fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createFileCatalogStore,
  createTroupe,
  type ServerConfig,
  type ServerSettings,
} from '../../src/index.js';
import { descendantsOf, readProcesses } from '../../src/transports/stdio/process-table.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';

const COUNT = 50;
const LIMIT_MS = 90_000;
const SMALL_SERVER = fileURLToPath(new URL('../../tools/bench/small-server.mjs', import.meta.url));

/** Records that it was started, and answers only while the file `mute` does not exist. */
const SERVER = `
import { appendFileSync, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { answer } from ${JSON.stringify(pathToFileURL(SMALL_SERVER).href)};
const [mute, started, name] = process.argv.slice(2);
appendFileSync(started, name + '\\n');
for await (const line of createInterface(process.stdin)) {
  while (existsSync(mute)) await pause(50);
  const message = JSON.parse(line);
  if (message.id !== undefined) process.stdout.write(JSON.stringify(answer(message)) + '\\n');
}`;

describe('fifty programs with cached tools', () => {
  useLeakCheck();
  useCrashWatch();
  let folder: string;
  const path = (name: string): string => join(folder, name);
  const entries = (settings: ServerSettings = {}): Record<string, ServerConfig> =>
    Object.fromEntries(
      Array.from({ length: COUNT }, (_, index) => {
        const args = [path('server.mjs'), path('mute'), path('started'), `s${index}`];
        return [`s${index}`, { command: process.execPath, args, ...settings }];
      }),
    );
  const troupeOf = (settings: ServerSettings = {}) =>
    createTroupe({
      servers: entries(settings),
      cache: createFileCatalogStore({ folder: path('cache') }),
      startGateMs: 60_000,
    });
  const starts = (): number =>
    (statSync(path('started'), { throwIfNoEntry: false })?.size ?? 0) > 0 ? 1 : 0;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-cached-'));
    writeFileSync(path('server.mjs'), SERVER);
    await using troupe = troupeOf();
    expect((await troupe.start()).ready).toHaveLength(COUNT);
    await troupe.close();
    expect(readdirSync(path('cache'))).toHaveLength(COUNT);
    rmSync(path('started'));
  }, LIMIT_MS);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it(
    'list all tools before any program starts, and answer a call later.',
    async () => {
      writeFileSync(path('mute'), '');
      await using troupe = troupeOf();
      const seen: { readonly tools: number; readonly starts: number }[] = [];
      troupe.tools$.subscribe(({ length }) => seen.push({ tools: length, starts: starts() }));
      expect(await troupe.listed()).toHaveLength(COUNT * 10);
      expect(seen.at(-1)).toEqual({ tools: COUNT * 10, starts: 0 });
      expect(troupe.tools.every(({ stale }) => stale)).toBe(true);
      const call = troupe.callTool('mcp__s0__tool_3', { text: 'hello' });
      rmSync(path('mute'));
      await expect(call).resolves.toEqual({ content: [{ type: 'text', text: '{"text":"hello"}' }] });
    },
    LIMIT_MS,
  );

  it(
    'need no process if they are lazy, and one process after one of them is called.',
    async () => {
      rmSync(path('started'), { force: true });
      const own = (): number => descendantsOf([process.pid], readProcesses() ?? []).length;
      const before = own();
      await using troupe = troupeOf({ start: 'lazy' });
      await troupe.start();
      expect(troupe.tools).toHaveLength(COUNT * 10);
      expect([own() - before, starts()]).toEqual([0, 0]);
      await expect(troupe.callTool('mcp__s9__tool_3', { text: 'hello' })).resolves.toEqual({
        content: [{ type: 'text', text: '{"text":"hello"}' }],
      });
      expect(troupe.status.filter(({ pid }) => pid !== null).map(({ server }) => server)).toEqual(['s9']);
    },
    LIMIT_MS,
  );
});
