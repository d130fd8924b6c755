/** The page beside a running troupe: what happens is seen, commands are obeyed or refused, and the end is told. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PageFiles } from '../../src/inspection/page-files.js';
import { tool } from '../../src/testing/ordinary-answers.js';
import { ScriptedServer } from '../../src/testing/scripted-server.js';
import { createTroupe, type Troupe } from '../../src/troupe.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';
import {
  expectAccessible,
  expectActive,
  expectText,
  useVisualizer,
  type Visualizer,
} from './visualizer-page.js';

useLeakCheck();
useCrashWatch();
const visualizer = useVisualizer();
// A chart is drawn without a graphics card, on a machine that may do other things besides.
vi.setConfig({ testTimeout: 60_000 });

/** As a hostile server would call itself. */
const MARKUP = '<img src=x onerror="document.title=1">';

let troupe: Troupe;
let search: ScriptedServer;
let url: string;

beforeEach(async () => {
  search = new ScriptedServer({ tools: [tool('find', { description: MARKUP })] });
  troupe = createTroupe({
    clientInfo: { name: 'harbor', version: '1' },
    servers: {
      files: { type: 'in-process', server: new ScriptedServer({ tools: [tool('read'), tool('write')] }) },
      search: {
        type: 'in-process',
        server: search,
        policy: {
          backoff: [60_000],
          immediateRetryWindowMs: 60_000,
          intensity: { restarts: 0, periodMs: 1 },
        },
      },
      [MARKUP]: { type: 'in-process', server: new ScriptedServer() },
    },
  });
  await troupe.start();
  ({ url } = await troupe.inspect());
});

afterEach(async () => {
  await troupe.close();
});

/** It dies, and cannot be begun again. */
async function breakSearch(): Promise<void> {
  search.script = { ...search.script, beforeConnect: () => Promise.reject(new Error('The port is taken.')) };
  await search.die();
}

async function live(): Promise<Visualizer> {
  const page = await visualizer.open(url);
  await expectText(page, '.when', (text) => text === 'Live');
  await expectText(page, '.fleet-row', (text) => text.startsWith('search') && text.includes('ready'));
  return page;
}

const isEnabled = async ({ page }: Visualizer, command: string): Promise<boolean> =>
  (await page.evaluate(
    `[...document.querySelectorAll('.command')].some((each) => each.innerText === '${command}' && !each.disabled)`,
  )) as boolean;

describe('the page beside a running troupe', () => {
  it('says what it shows, lists the tools with their schemas, and takes markup for text.', async () => {
    const page = await live();
    expect(await page.text('.source')).toBe(`harbor (${process.pid})`);
    expect(await page.texts('.fleet-name strong')).toEqual(['files', 'search', MARKUP]);
    await page.select('search');
    await page.page.locator('.fold ::-p-text(Tools)').click();
    await page.page.locator('.tool summary').click();
    await expectText(page, '.tool', (text) => text.includes(MARKUP) && text.includes('mcp__search__find'));
    expect(await page.page.title()).toBe('Troupe');
    expect(await page.page.$$('img')).toEqual([]);
    await expectAccessible(page, 'live');
  });

  it('moves the chart and marks the timeline when a server dies, and counts down to the next try.', async () => {
    const page = await live();
    await page.select('search');
    await page.show('Chart');
    await expectActive(page, 'connection.ready');
    await breakSearch();
    await expectActive(page, 'connection.reconnecting.backingOff');
    expect(await page.active()).not.toContain('connection.ready');
    await page.show('Timeline');
    await expectText(page, '#lane-story li', (text) => text.startsWith('failure at'));
    await page.show('Fleet');
    await expectText(page, '.fleet-row .countdown', (text) => /^in (\d+ s|1 min)/.test(text));
    const { script } = search;
    search.script = { tools: script.tools ?? [] };
    await page.click('Retry');
    await expectText(page, '.fleet-row', (text) => text.startsWith('search') && text.includes('ready'));
  });

  it('offers what the chart accepts; the rest can be sent anyway and is seen to be rejected.', async () => {
    const page = await live();
    await page.select('files');
    await expectText(page, '.command', (text) => text === 'Stop');
    expect(await isEnabled(page, 'Stop')).toBe(true);
    expect(await isEnabled(page, 'Retry')).toBe(false);
    await page.page.locator('.force input').click();
    await page.page.locator('.command ::-p-text(Retry)').click();
    await expectText(page, '.rejection', (text) =>
      text.includes('connection.retry is not accepted in ready'),
    );
    await expectAccessible(page, 'rejected');
    await page.show('Events');
    await expectText(page, '.event-row.kind-rejection', (text) => text.includes('connection.retry'));
    await page.show('Fleet');
    await page.page.locator('.command ::-p-text(Stop)').click();
    await expectText(page, '.fleet-row', (text) => text.startsWith('files') && text.includes('stopped'));
    await expectText(page, '.note.good', (text) => text.includes('connection.stop is accepted'));
    expect(troupe.status.find(({ name }) => name === 'files')?.state).toBe('stopped');
  });

  it('sends nothing from the past, and goes on from there when it comes back.', async () => {
    const page = await live();
    await page.select('search');
    await breakSearch();
    await expectText(page, '.side .state-badge', (text) => text.startsWith('reconnecting'));
    await page.scrubTo(0);
    await expectText(page, '.when', (text) => text.startsWith('Past'));
    await expectText(page, '.side .state-badge', (text) => text.startsWith('ready'));
    expect(await isEnabled(page, 'Stop')).toBe(false);
    await page.click('Back to live', 'button');
    await expectText(page, '.when', (text) => text === 'Live');
    await expectText(page, '.side .state-badge', (text) => text.startsWith('reconnecting'));
  });

  it('writes itself and the log into one file that opens from the disk.', async () => {
    const page = await live();
    await search.die();
    const folder = mkdtempSync(join(tmpdir(), 'troupe-shared-'));
    try {
      const session = await page.page.createCDPSession();
      const { id } = page.page.browserContext();
      await session.send('Browser.setDownloadBehavior', {
        behavior: 'allow',
        downloadPath: folder,
        ...(id !== undefined && { browserContextId: id }),
      });
      await page.click('Export');
      const file = join(folder, 'troupe.html');
      await expectFile(page, file);
      expect(readFileSync(file, 'utf8')).not.toContain(new URL(url).hash.slice(1));
      const shared = await visualizer.open(pathToFileURL(file).href);
      await expectText(shared, '.when', (text) => text.startsWith('Recorded'));
      await shared.select('search');
      await shared.show('Chart');
      await shared.page.waitForSelector('[data-state="connection.ready"]');
      expect(shared.foreign).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('says that the troupe has ended, and lets the past be looked at.', async () => {
    const page = await live();
    await troupe.close();
    await expectText(page, '.banner', (text) => text.includes('The troupe has ended.'));
    await expectText(page, '.when', (text) => text === 'Disconnected');
    await page.scrubTo(0);
    await expectText(page, '.fleet-row', (text) => text.startsWith('files') && text.includes('ready'));
    await expectAccessible(page, 'ended');
  });
});

/** Waits for the page to have written it whole. */
async function expectFile({ page }: Visualizer, path: string): Promise<void> {
  for (let tries = 0; tries < 300 && !existsSync(path); tries += 1)
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 50))');
  expect(existsSync(path)).toBe(true);
}

describe('a page that is not understood, or hears nothing', () => {
  let server: Server;
  let answers: (write: (line: object) => void, end: () => void) => void;

  beforeEach(async () => {
    const files = new PageFiles();
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost');
      if (pathname === '/api/stream') {
        response.writeHead(200, { 'content-type': 'application/x-ndjson' });
        response.flushHeaders();
        return answers(
          (line) => response.write(`${JSON.stringify(line)}\n`),
          () => response.end(),
        );
      }
      void files.get(pathname).then((file) => {
        response.writeHead(file === undefined ? 404 : 200, { 'content-type': file?.type ?? 'text/plain' });
        response.end(file?.bytes);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/#key`;
  const hello = {
    kind: 'hello',
    protocol: 1,
    package: { name: 'x', version: '9' },
    mode: 'live',
    title: 'x',
    charts: {},
    at: 0,
  };

  it('says which versions do not fit.', async () => {
    answers = (write) => write({ ...hello, protocol: 99 });
    const page = await visualizer.open(address());
    await expectText(page, 'h2', (text) => text.includes('different versions'));
    await expectText(
      page,
      '.nothing p',
      (text) => text.includes('version 99') && text.includes('this page 1'),
    );
    await expectAccessible(page, 'mismatch');
  });

  it('waits visibly, says when it is disconnected, and comes back by itself.', async () => {
    let end = (): void => {};
    answers = (_write, stop) => {
      end = stop;
    };
    const page = await visualizer.open(address());
    await expectText(page, 'h2', (text) => text === 'Connecting…');
    await expectAccessible(page, 'connecting');
    answers = (_write, stop) => stop();
    end();
    await expectText(page, 'h2', (text) => text === 'Nobody answers');
    answers = (write) => write(hello);
    await expectText(page, 'h2', (text) => text === 'Waiting for the first entries…');
  });
});
