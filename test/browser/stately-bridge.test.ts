/** The bridge to Stately's inspector in a real browser; the viewer is a page with the receiver of Stately's package. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Page } from 'puppeteer-core';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { build } from 'vite';
import { createTroupe, type Troupe } from '../../src/runtime/troupe.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useInotify } from '../support/inotify.js';
import { useLeakCheck } from '../support/leak-check.js';
import { ScriptedServer, tool } from '../support/scripted-server.js';
import { inProcess } from '../support/test-troupe.js';
import { useBrowser, visit } from './browser.js';
import { WAIT_LIMIT_MS } from '../support/time-limit.js';

useInotify();
useLeakCheck();
useCrashWatch();
const browser = useBrowser();

const VIEWER = fileURLToPath(new URL('stately-viewer.mjs', import.meta.url));
const BUILD_MS = 60_000;
const LIMIT = { timeout: WAIT_LIMIT_MS };

/** The viewer as one script. */
async function bundledViewer(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: { write: false, minify: false, rolldownOptions: { input: VIEWER } },
  });
  const [output] = [built].flat();
  if (output === undefined || !('output' in output)) throw new Error('The viewer was not built.');
  return output.output[0].code;
}

interface Shown {
  readonly actors: readonly string[];
  readonly states: Readonly<Record<string, string>>;
}

/** What the viewer shows, in its frame. */
async function shownBy(page: Page): Promise<Shown> {
  const frame = page.frames().find((one) => one !== page.mainFrame());
  return (await frame?.evaluate('globalThis.shown')) as Shown;
}

describe("the bridge to Stately's inspector", () => {
  let script: string;
  let viewer: Server;
  let troupe: Troupe;
  beforeAll(async () => {
    script = await bundledViewer();
  }, BUILD_MS);
  beforeEach(async () => {
    viewer = createServer((request, response) => {
      const isScript = request.url === '/viewer.js';
      response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
      response.end(isScript ? script : '<!doctype html><script type="module" src="/viewer.js"></script>');
    });
    viewer.listen(0, '127.0.0.1');
    await once(viewer, 'listening');
    const server = new ScriptedServer({ tools: [tool('read')] });
    troupe = createTroupe({ servers: { files: inProcess(server) }, cache: false });
    await troupe.start();
  });
  afterEach(async () => {
    await troupe.close();
    viewer.close();
    viewer.closeAllConnections();
  });

  it('sends a viewer of another origin every actor and change, and again after a reload', async () => {
    const { port } = viewer.address() as AddressInfo;
    const { statelyUrl = '' } = await troupe.inspect({ stately: `http://127.0.0.1:${port}/` });
    const page = await browser.window();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    const seen = await visit(page, statelyUrl);
    expect(seen).toMatchObject({ status: 200, title: "Troupe in Stately's inspector" });
    await expect.poll(async () => (await shownBy(page))?.states['$/files#1'], LIMIT).toContain('ready');
    expect((await shownBy(page)).actors).toEqual(expect.arrayContaining(['manager', 'files']));
    await troupe.connection('files')?.stop();
    await expect.poll(async () => (await shownBy(page)).states['$/files#1'], LIMIT).toContain('stopped');
    expect(await page.$eval('p', (line) => line.textContent)).toBe(
      `Events are sent to http://127.0.0.1:${port}.`,
    );

    const frame = page.frames().find((one) => one !== page.mainFrame());
    await frame?.evaluate('location.reload()');
    await expect
      .poll(async () => (await shownBy(page).catch(() => undefined))?.actors, LIMIT)
      .toContain('manager');
    expect(errors).toEqual([]);
    await troupe.close();
    await expect.poll(() => page.$eval('p', (line) => line.textContent), LIMIT).toMatch(/has ended/);
  });

  it('sends nothing to a page of another address', async () => {
    const { statelyUrl = '' } = await troupe.inspect({ stately: 'http://127.0.0.1:1/' });
    const page = await browser.window();
    await visit(page, statelyUrl);
    const { port } = viewer.address() as AddressInfo;
    await page.evaluate(`document.querySelector('iframe').src = 'http://127.0.0.1:${port}/'`);
    await page.evaluate(`postMessage({ type: '@statelyai.connected' }, '*')`);
    await expect
      .poll(() => page.evaluate(`performance.getEntriesByType('resource').length`), LIMIT)
      .toBeGreaterThan(0);
    const requested = (await page.evaluate(
      `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)`,
    )) as string[];
    expect(requested).not.toContain('/api/stately');
    expect(await page.$eval('p', (line) => line.textContent)).toContain('Waiting for 127.0.0.1:1.');
  });
});
