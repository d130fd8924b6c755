/** The page of a fleet, with two real hosts, each a process of `troupe serve`, over a real Redis. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeEngine, EngineServer } from '../support/engine-servers.js';
import { FLEET_KEY } from '../support/fleet-host.js';
import { useLeakCheck } from '../support/leak-check.js';
import { TroupeProcess } from '../support/troupe-process.js';
import { userVariables } from '../support/user-variables.js';
import { expectAccessible, useVisualizer } from './use-visualizer.js';
import { expectText, type Visualizer } from './visualizer-page.js';

const QUICK = fileURLToPath(new URL('../support/quick-server.mjs', import.meta.url));
/** The page is drawn without a graphics card, perhaps on a busy machine. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const key = async ({ page }: Visualizer, ...keys: readonly string[]): Promise<void> => {
  for (const each of keys) await page.keyboard.press(each as 'Enter');
};

describeEngine('redis', 'the page of a fleet', () => {
  useLeakCheck();
  let folder: string;
  let engine: EngineServer;
  let viewer: TroupeProcess;
  let url: string;
  const hosts: TroupeProcess[] = [];
  const visualizer = useVisualizer();

  function start(words: readonly string[]): TroupeProcess {
    const fleet = { TROUPE_FLEET: `redis://${engine.host}`, TROUPE_FLEET_KEY: FLEET_KEY };
    const env = { ...userVariables({ home: folder, config: folder, state: folder }), ...fleet };
    return TroupeProcess.start(words, { cwd: folder, env });
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-hosts-'));
    engine = await EngineServer.start('redis');
    for (const names of [['anchor', 'buoy'], ['crane']]) {
      const file = join(folder, `${names.join('-')}.json`);
      const mcpServers = Object.fromEntries(
        names.map((name) => [name, { command: process.execPath, args: [QUICK] }]),
      );
      writeFileSync(file, JSON.stringify({ mcpServers }));
      hosts.push(start(['serve', '--http', '--no-token', '--config', file]));
    }
    viewer = start(['inspect', '--fleet', '--no-open', '--json']);
    await viewer.saw(/"url"/);
    url = /http:\/\/127[^"]+/.exec(viewer.stdout)?.[0] ?? '';
    for (const host of hosts) await host.saw(/http:\/\/127/);
  });
  afterAll(async () => {
    for (const each of [...hosts, viewer]) each.signal('SIGTERM');
    for (const each of [...hosts, viewer]) await each.finished();
    await engine.remove();
    rmSync(folder, { recursive: true });
  });

  it('has a row for each host and each server, and opens the chart of one by keyboard.', async () => {
    const shown = await visualizer.open(url);
    const { page } = shown;
    await expectText(shown, '.toolbar-note', (text) => text === '2 hosts, 3 servers');
    for (const name of ['anchor', 'buoy', 'crane'])
      await expectText(shown, '.server-row', (text) => text.startsWith(name) && text.includes('ready'));
    expect(await shown.texts('.tag.odd')).toEqual([]);
    await expectAccessible(shown, 'hosts');

    await page.locator('input[type=search]').fill('server:crane');
    await expectText(shown, '.virtual-list', (text) => text.includes('crane') && !text.includes('anchor'));
    await page.focus('.virtual-list');
    await key(shown, 'Home', 'ArrowDown', 'Enter');
    await page.waitForSelector('#panel-chart');
    await expectText(shown, '.side h2', (text) => text === 'crane');
    await expectText(shown, '.when', (text) => text === 'Live');
    // It takes no commands.
    expect(await shown.texts('.command')).toEqual([]);
    await page.locator('.all-hosts').click();
    await expectText(shown, '.toolbar-note', (text) => text === '2 hosts, 3 servers');
  });

  it('shows a host that was stopped as gone; it does not open.', async () => {
    const shown = await visualizer.open(url);
    await expectText(shown, '.toolbar-note', (text) => text === '2 hosts, 3 servers');
    const [first] = hosts.splice(0, 1);
    first?.signal('SIGTERM');
    await first?.finished();
    await expectText(shown, '.toolbar-note', (text) => text === '1 hosts, 1 servers, 1 gone');
    await shown.page.locator('.host-row.is-gone').click();
    expect(new URL(shown.page.url()).search).toBe('');
  });
});
