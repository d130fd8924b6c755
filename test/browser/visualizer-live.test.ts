/** The page beside a running troupe: it shows what happens, sends commands, and reports the end. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { HTTPRequest } from 'puppeteer-core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PageFiles } from '../../src/inspector/page-files.js';
import { INSPECTION_PROTOCOL } from '../../src/inspector/page-protocol.js';
import { tool } from '../../src/testing/ordinary-answers.js';
import { ScriptedServer } from '../../src/testing/scripted-server.js';
import { renderQuestion } from '../../src/cli/output/trust-question.js';
import { createTroupe, type Troupe } from '../../src/runtime/troupe.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';
import { createMemoryTokenStore } from '../../src/auth/stores/token-store.js';
import { useAuthorizationServers } from '../support/authorization-server.js';
import { useSigningTroupes } from '../support/signing-troupes.js';
import { asking } from './consent-page.js';
import { expectAccessible, useVisualizer } from './use-visualizer.js';
import { expectActive, expectText, type Visualizer } from './visualizer-page.js';
import { WAIT_LIMIT_MS } from '../support/time-limit.js';

useLeakCheck();
useCrashWatch();
// Charts are drawn without a graphics card, perhaps on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

/** Time limit for sending eighty megabytes to the page, which reads them. */
const LOADING_MS = 90_000;

/** A name that a hostile server could use. */
const MARKUP = '<img src=x onerror="document.title=1">';

/** An argument whose harmful part is in the middle. */
const LONG = `${'a'.repeat(300)}; rm -r here; ${'b'.repeat(300)}`;

const REAL = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);
const FLAPPING = new URL('../property/replay/corpus/flaps-forever.jsonl', import.meta.url);

let folder: string;
let troupe: Troupe;
let search: ScriptedServer;
let url: string;
/** The same for every test, so that the page finds what it has stored. */
let port = 0;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-live-'));
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
      [MARKUP]: { type: 'in-process', server: hostile() },
    },
  });
  await troupe.start();
  ({ url } = await troupe.inspect({ port }));
  port = Number(new URL(url).port);
});

// Later hooks run first, so the pages are closed before the troupe.
afterEach(async () => {
  await troupe.close();
  rmSync(folder, { recursive: true });
});
const authorization = useAuthorizationServers();
const signing = useSigningTroupes();
const visualizer = useVisualizer();

function hostile(): ScriptedServer {
  return new ScriptedServer({
    on: {
      initialize: () => ({
        protocolVersion: '2025-06-18',
        capabilities: {},
        serverInfo: { name: MARKUP, version: MARKUP },
        instructions: MARKUP,
      }),
    },
  });
}

/** The server dies, and cannot be started again. */
async function breakSearch(): Promise<void> {
  search.script = { ...search.script, beforeConnect: () => Promise.reject(new Error('The port is taken.')) };
  await search.die();
}

async function live(): Promise<Visualizer> {
  const page = await visualizer.open(url);
  await expectText(page, '.when', (text) => text === 'Live');
  await expectText(page, '.fleet-row', (text) => text.startsWith('search') && text.includes('ready'));
  // From now on, the page requests no more assets.
  await page.page.waitForFunction(
    `performance.getEntriesByType('resource').filter(
      ({ initiatorType, name }) => initiatorType === 'fetch' && name.includes('/assets/'),
    ).length === 4`,
  );
  return page;
}

const COMMANDS: Readonly<Record<string, string>> = {
  'connection.start': 'Start',
  'connection.stop': 'Stop',
  'connection.retry': 'Retry',
  'connection.restart': 'Restart',
  'connection.refresh': 'Refresh',
  'trust.granted': 'Trust',
  'trust.denied': 'Deny',
};

/** Waits until the page offers exactly the commands that the connection accepts. */
async function expectOffered(page: Visualizer, name: string, of = troupe): Promise<readonly string[]> {
  const accepted = new Set(of.connection(name)?.allowed);
  const words = Object.entries(COMMANDS).flatMap(([type, word]) =>
    accepted.has(type as never) ? [word] : [],
  );
  await expect.poll(() => page.offered()).toEqual(words);
  return words;
}

describe('the page beside a running troupe', () => {
  it('shows its title, lists the tools with their schemas, and renders markup as text', async () => {
    const page = await live();
    expect(await page.text('.source')).toBe(`harbor (${process.pid})`);
    expect(await page.texts('.fleet-name strong')).toEqual(['files', 'search', MARKUP]);
    await page.select('search');
    await page.page.locator('.fold ::-p-text(Tools)').click();
    await page.page.locator('.tool summary').click();
    await expectText(page, '.tool', (text) => text.includes(MARKUP) && text.includes('mcp__search__find'));
    await page.select(MARKUP);
    await expectText(page, '.instructions', (text) => text === MARKUP);
    expect(await page.text('.side')).toContain(`${MARKUP} ${MARKUP}`);
    expect(await page.page.title()).toBe('Troupe');
    expect(await page.page.$$('img')).toEqual([]);
    await expectAccessible(page, 'live');
  });

  it('updates the chart and marks the timeline when a server dies, and counts down to the next attempt', async () => {
    const page = await live();
    await page.select('search');
    await page.show('Chart');
    await expectActive(page, 'connection.ready');
    await breakSearch();
    await expectActive(page, 'connection.reconnecting.backingOff');
    expect(await page.active()).not.toContain('connection.ready');
    await page.show('Timeline');
    await expectText(page, '#lane-story li', (text) => /^(\w+, )*failure(, \w+)* at /.test(text));
    await page.show('Fleet');
    await expectText(page, '.fleet-row .countdown', (text) => /^in (\d+ s|1 min)/.test(text));
    const { script } = search;
    search.script = { tools: script.tools ?? [] };
    await page.click('Retry');
    await expectText(page, '.fleet-row', (text) => text.startsWith('search') && text.includes('ready'));
  });

  it('offers the commands that the chart accepts; others can be sent anyway and are shown as rejected', async () => {
    const page = await live();
    await page.select('files');
    expect(await expectOffered(page, 'files')).toEqual(['Stop', 'Restart', 'Refresh']);
    await page.page.locator('.force input').click();
    await page.page.locator('.command ::-p-text(Retry)').click();
    await expectText(page, '.rejection', (text) =>
      text.includes('Retry while ready: not possible in this state'),
    );
    await expectAccessible(page, 'rejected');
    await page.page.locator('.force input').click();
    await page.show('Events');
    await expectText(page, '.event-row.kind-rejection', (text) => text.includes('retry is not possible'));
    await page.show('Fleet');
    await page.page.locator('.command ::-p-text(Stop)').click();
    await expectText(page, '.fleet-row', (text) => text.startsWith('files') && text.includes('stopped'));
    await expectText(page, '.commands [role=status]', (text) => text === '');
    expect(troupe.status.find(({ server }) => server === 'files')?.state).toBe('stopped');
    expect(await expectOffered(page, 'files')).toEqual(['Start']);
    await page.page.focus('.command:not(:disabled)');
    await page.page.keyboard.press('Enter');
    await expectText(page, '.fleet-row', (text) => text.startsWith('files') && text.includes('ready'));
    await expectOffered(page, 'files');
    await page.page.locator('.command ::-p-text(Refresh)').click();
    await expectText(page, '.note.good', (text) => text.includes('Refresh: accepted'));
    const { generation = 0 } = troupe.connection('files')?.status ?? {};
    await page.page.locator('.command ::-p-text(Restart)').click();
    await expect.poll(() => troupe.connection('files')?.status.generation).toBe(generation + 1);
    await expectText(page, '.commands [role=status]', (text) => text === '');
    await breakSearch();
    await page.select('search');
    await expectText(page, '.side .state-badge', (text) => /^(reconnecting|retrying)/.test(text));
    expect(await expectOffered(page, 'search')).toEqual(['Stop', 'Retry', 'Restart']);
  });

  it('asks whether to trust an entry, shows it as it is written, and shows the effect of the answer', async () => {
    const path = join(folder, '.mcp.json');
    const mcpServers = {
      theirs: {
        command: 'no-such-program',
        args: ['--of-theirs', 'two words', '\u202etxt.', '${input:where}', LONG],
      },
      others: { command: 'no-such-program' },
    };
    const inputs = [{ id: 'where', type: 'promptString', description: 'Where?', default: 'over-there' }];
    writeFileSync(path, JSON.stringify({ inputs, mcpServers }));
    await troupe.close();
    troupe = createTroupe({ config: { path, scope: 'project' }, servers: {} });
    await troupe.start();
    ({ url } = await troupe.inspect({ port }));
    const page = await visualizer.open(url);
    await page.select('theirs');
    await expectText(page, '.question', (text) => text.includes('program: no-such-program'));
    expect(await page.text('.question')).toBe(renderQuestion(troupe.status[0]!.trustRequest!));
    for (const shown of ['--of-theirs', '"two words"', String.raw`\u{202e}txt.`, LONG.slice(0, 100)])
      expect(await page.text('.question')).toContain(shown);
    expect(await page.text('.question')).toContain('proposes the answers: ${input:where} = over-there');
    await page.page.locator('.note summary ::-p-text(The whole entry)').click();
    await page.page.locator('.note summary ::-p-text(args)').click();
    await expectText(page, '.note .json-leaf', (text) => text.includes(LONG));
    expect(await page.texts('.note .json-leaf')).toContain(String.raw`2: "\u{202e}txt."`);
    expect(await expectOffered(page, 'theirs')).toEqual(expect.arrayContaining(['Trust', 'Deny']));
    await expectAccessible(page, 'trust');
    await page.page.locator('.command ::-p-text(Trust)').click();
    await expectText(page, '.note.bad', (text) => text.includes('command-not-found'));
    expect(await expectOffered(page, 'theirs')).not.toContain('Trust');
    await page.select('others');
    await page.page.locator('.command ::-p-text(Deny)').click();
    await expectText(
      page,
      '.fleet-row',
      (text) => text.startsWith('others') && text.includes('trust-denied'),
    );
  });

  it('says that the manager has no messages, and shows those of the others', async () => {
    const page = await live();
    await search.die();
    await page.show('Sequence');
    await expectText(page, '.nothing', (text) => text.includes('manager'));
    await page.click('Show all');
    await expectText(page, '.sequence-row', (text) => text.includes('search'));
  });

  it('leads the user to the sign-in that a server requires', async () => {
    const office = await authorization.start(asking());
    const { troupe: signed, asked } = signing.start(office.url, { store: createMemoryTokenStore() });
    await asked();
    const { url: address } = await signed.inspect();
    const page = await visualizer.open(address);
    await page.select('port');
    await expectText(page, '.note.warn', (text) => text.includes('sign in'));
    await expectAccessible(page, 'sign-in');
    const coming = page.page
      .browserContext()
      .waitForTarget((target) => target.url().startsWith(office.origin), {
        timeout: WAIT_LIMIT_MS,
      });
    await page.page.locator('.note.warn a').click();
    const window = await (await coming).page();
    if (window === null) throw new Error('No window was opened.');
    await window.locator('::-p-aria(Agree[role="button"])').click();
    await expectText(page, '.fleet-row', (text) => text.startsWith('port') && text.includes('ready'));
    await expectText(page, '.why', (text) => text.includes('has been ready since'));
    expect(await page.page.$('.why.warn')).toBeNull();
    await window.close();
  });

  it('shows a real server in every view: its output, its crash and its return', async () => {
    await troupe.close();
    troupe = createTroupe({
      servers: { everything: { type: 'stdio', command: process.execPath, args: [REAL, 'stdio'] } },
      review: 'hold-changes',
    });
    await troupe.start();
    ({ url } = await troupe.inspect({ port }));
    const page = await visualizer.open(url);
    await page.select('everything');
    await expectText(page, '.stderr', (text) => text.includes('STDIO'));
    await expectText(page, '.side', (text) => text.includes('mcp-servers/everything'));
    await page.page.locator('.fold ::-p-text(Tools)').click();
    await page.page.locator('.tool summary').click();
    await expectText(page, '.tool', (text) => /mcp__everything__echo[^]*properties \{1\}/.test(text));
    await page.show('Chart');
    await page.page.select('.choice:nth-of-type(2) select', 'review');
    await expectActive(page, 'review.judged');
    await page.page.select('.choice:nth-of-type(2) select', 'connection');
    await expectActive(page, 'connection.ready');
    const before = await page.text('[data-state="connection.ready"] .chart-visits');
    process.kill(troupe.connection('everything')?.status.pid ?? 0, 'SIGKILL');
    await expectText(page, '[data-state="connection.ready"] .chart-visits', (text) => text !== before);
    await expectActive(page, 'connection.ready');
    await troupe.callTool('mcp__everything__echo', { message: 'again' });
    await page.show('Timeline');
    await expectText(page, '#lane-story li', (text) => /^(\w+, )*failure(, \w+)* at /.test(text));
    // Marks that are close to each other are shown as one, which names all of them.
    await expectText(page, '#lane-story li', (text) => /^(\w+, )*call(, \w+)* at /.test(text));
    await page.show('Sequence');
    await expectText(page, '.sequence-row', (text) =>
      /server to everything: tools\/call ↩ · \d+ ms/.test(text),
    );
    await page.show('Events');
    await page.page.type('input[type=search]', 'session.lost');
    await expectText(page, '.event-row', (text) => text.includes('session lost'));
    for (const view of ['Fleet', 'Chart', 'Timeline', 'Events', 'Sequence']) {
      await page.show(view);
      await expectAccessible(page, `${view}, live`);
    }
    await page.page.locator('.command ::-p-text(Stop)').click();
    await expectText(page, '.side .state-badge', (text) => text === 'stopped');
  });

  it('sends no command from the past, and returns to the present', async () => {
    const page = await live();
    await page.select('search');
    await breakSearch();
    await expectText(page, '.side .state-badge', (text) => /^(reconnecting|retrying)/.test(text));
    await page.scrubTo(0);
    await expectText(page, '.when', (text) => text.startsWith('Past'));
    await expectText(page, '.side .state-badge', (text) => text.startsWith('ready'));
    expect(await page.offered()).toEqual([]);
    await page.click('Back to live', 'button');
    await expectText(page, '.when', (text) => text === 'Live');
    await expectText(page, '.side .state-badge', (text) => /^(reconnecting|retrying)/.test(text));
  });

  it('exports itself and the log into one file that opens from the disk and can be exported again', async () => {
    const page = await live();
    await search.die();
    await exportTo(page, folder);
    const file = join(folder, 'troupe.html');
    await expectFile(page, file);
    expect(readFileSync(file, 'utf8')).not.toContain(new URL(url).hash.slice(1));
    const shared = await visualizer.open(pathToFileURL(file).href);
    await expectText(shared, '.when', (text) => text.startsWith('Recorded'));
    await expectText(shared, '.fleet-name strong', (text) => text === MARKUP);
    await shared.select('search');
    await shared.show('Chart');
    await shared.page.waitForSelector('[data-state="connection.ready"]');
    const log = join(folder, 'dropped.jsonl');
    writeFileSync(log, readFileSync(FLAPPING));
    await shared.give(log);
    await expectText(shared, '.source', (text) => text === 'dropped.jsonl');
    rmSync(file);
    await shared.click('Export');
    await expectFile(shared, file);
    const again = await visualizer.open(pathToFileURL(file).href);
    await expectText(again, '.fleet-row', (text) => text.startsWith('files'));
  });

  it('draws only the opened parts of many tools with large schemas', async () => {
    const fields = Array.from({ length: 40 }, (_, index): [string, object] => [
      `field${index}`,
      { enum: ['a', 'b', 'c'] },
    ]);
    const inputSchema = { type: 'object' as const, properties: Object.fromEntries(fields) };
    search.changeTools(Array.from({ length: 300 }, (_, index) => tool(`tool${index}`, { inputSchema })));
    const page = await live();
    await page.select('search');
    await expectText(page, '.fold summary', (text) => text === 'Tools (300)');
    await page.page.locator('.fold ::-p-text(Tools)').click();
    await expectText(page, '.tool', (text) => text === 'tool299');
    await page.page.locator('.tool summary').click();
    await page.page.locator('.tool .json-node ::-p-text(properties)').click();
    await expectText(page, '.tool', (text) => text.includes('field39 {1}'));
    expect(await page.page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(5_000);
  });

  it('shows the answer to a command only beside the connection that it was sent to', async () => {
    const page = await live();
    await page.select('files');
    await page.page.setRequestInterception(true);
    const held: HTTPRequest[] = [];
    page.page.on('request', (request) => {
      if (request.url().endsWith('/api/command')) held.push(request);
      else void request.continue();
    });
    await page.page.locator('.command ::-p-text(Refresh)').click();
    await expect.poll(() => held.length).toBe(1);
    await page.select('search');
    const answered = page.page.waitForResponse((response) => response.url().endsWith('/api/command'));
    await held[0]?.continue();
    await (await answered).text();
    // It is drawn at most a frame later.
    await page.page.evaluate(
      'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn))))',
    );
    expect(await page.text('.commands [role=status]')).toBe('');
  });

  it('shows no answer to the previous command while another one is pending', async () => {
    const page = await live();
    await page.select('files');
    await page.page.locator('.command ::-p-text(Refresh)').click();
    await expectText(page, '.note.good', (text) => text.includes('Refresh: accepted'));
    const held: HTTPRequest[] = [];
    await page.page.setRequestInterception(true);
    page.page.on('request', (request) => {
      if (request.url().endsWith('/api/command')) held.push(request);
      else void request.continue();
    });
    await page.page.locator('.command ::-p-text(Refresh)').click();
    await expectText(page, '.commands [role=status]', (text) => text === '');
    await expect.poll(() => held.length).toBe(1);
    await held[0]?.continue();
    await expectText(page, '.note.good', (text) => text.includes('Refresh: accepted'));
  });

  it('lists the tools again if one was replaced and their number is the same', async () => {
    const page = await live();
    await page.select('search');
    await page.page.locator('.fold ::-p-text(Tools)').click();
    await expectText(page, '.tool', (text) => text.startsWith('find'));
    search.changeTools([tool('erase')]);
    await expectText(page, '.tool', (text) => text.startsWith('erase'));
  });

  it('keeps the scroll position of a list when rows before the selected one appear or disappear', async () => {
    await troupe.close();
    const names = Array.from({ length: 40 }, (_, index) => `server-${10 + index}`);
    const policy = {
      backoff: [60_000],
      immediateRetryWindowMs: 60_000,
      intensity: { restarts: 0, periodMs: 1 },
    };
    const others = names.map((name) => [
      name,
      { type: 'in-process' as const, server: new ScriptedServer({}) },
    ]);
    troupe = createTroupe({
      servers: { search: { type: 'in-process', server: search, policy }, ...Object.fromEntries(others) },
    });
    await troupe.start();
    ({ url } = await troupe.inspect({ port }));
    const page = await visualizer.open(url);
    await expectText(page, '.toolbar-note', (text) => text === '41 connections');
    await page.page.locator('.chip ::-p-text(ready)').click();
    await page.page.focus('.fleet .virtual-list');
    await page.page.keyboard.press('End');
    await expectText(page, '.side h2', (text) => text === 'server-49');
    const top = (): Promise<unknown> => page.page.$eval('.fleet .virtual-list', ({ scrollTop }) => scrollTop);
    await expect.poll(top).toBeGreaterThan(0);
    await page.page.evaluate(`document.querySelector('.fleet .virtual-list').scrollTop = 0`);
    await expectText(page, '.fleet-row', (text) => text.startsWith('search'));
    await breakSearch();
    await expectText(page, '.toolbar-note', (text) => text === '40 of 41 connections');
    expect(await top()).toBe(0);
    await page.page.keyboard.press('ArrowUp');
    await expect.poll(top).toBeGreaterThan(0);
    // A visible row stays visible.
    await page.page.type('.fleet input', '48');
    await expectText(page, '.toolbar-note', (text) => text.startsWith('1 of '));
    await page.page.$eval('.fleet input', (input) => input.select());
    await page.page.keyboard.press('Backspace');
    await expectText(page, '.toolbar-note', (text) => text.startsWith('40 of '));
    await expect.poll(top).toBeGreaterThan(0);
  });

  it('takes its key out of the address, and works when it is loaded again', async () => {
    const page = await live();
    expect(page.page.url()).toBe(url.replace(/#.*$/, ''));
    await page.page.reload({ waitUntil: 'load' });
    await expectText(page, '.when', (text) => text === 'Live');
    expect(page.page.url()).not.toContain(new URL(url).hash.slice(1));
  });

  it('shows another run if its address is opened in the same tab', async () => {
    const page = await live();
    await troupe.close();
    await expectText(page, '.banner', (text) => text.includes('The troupe has ended.'));
    troupe = createTroupe({ servers: { later: { type: 'in-process', server: new ScriptedServer({}) } } });
    await troupe.start();
    const again = await troupe.inspect({ port });
    await page.page.goto(again.url);
    await page.page.waitForSelector('.fleet-row ::-p-text(later)');
    await expectText(page, '.when', (text) => text === 'Live');
  });

  it('reports in a sixth tab that too many are open, and keeps the others working', async () => {
    const pages = [await live(), await live(), await live(), await live(), await live()];
    const sixth = await visualizer.open(url);
    await expectText(sixth, '.nothing', (text) => text.includes('5 pages are open already. Close one.'));
    await expectAccessible(sixth, 'too many');
    const [first] = pages;
    await first?.select('files');
    await first?.page.locator('.command ::-p-text(Stop)').click();
    await expectText(first!, '.side .state-badge', (text) => text === 'stopped');
    await pages.at(-1)?.page.goto('about:blank');
    await expectText(sixth, '.when', (text) => text === 'Live');
    sixth.complaints.splice(0);
  });

  it('reports that the troupe has ended, and still shows and exports the past', async () => {
    const page = await live();
    await troupe.close();
    await expectText(page, '.banner', (text) => text.includes('The troupe has ended.'));
    await expectText(page, '.when', (text) => text === 'Disconnected');
    await exportTo(page, folder);
    await expectFile(page, join(folder, 'troupe.html'));
    await page.scrubTo(0);
    await expectText(page, '.fleet-row', (text) => text.startsWith('files') && text.includes('ready'));
    await expectAccessible(page, 'ended');
  });
});

/** Pieces of a megabyte each: the same entries repeatedly, from a snapshot on, and a long note. */
function* manyEntries(log: URL, pieces: number): Generator<string> {
  const [header = '', ...entries] = readFileSync(log, 'utf8').trimEnd().split('\n');
  const note = `"kind":"note","note":{"type":"diagnostic","text":"${'x'.repeat(1_000_000)}"},"check":"0"}`;
  const bodies = [...entries.slice(0, -5).map((line) => line.replace(/^\{"seq":\d+,"at":\d+,/, '')), note];
  for (let piece = 0; piece < pieces; piece += 1) {
    const first = piece * bodies.length + 1;
    const lines = bodies.map(
      (body, index) => `{"seq":${first + index},"at":${1.7e12 + first + index},${body}`,
    );
    yield [...(piece === 0 ? [header] : []), ...lines, ''].join('\n');
  }
}

/** Exports the page into a folder, where its later downloads go as well. */
async function exportTo({ page }: Visualizer, downloadPath: string): Promise<void> {
  const session = await page.createCDPSession();
  const { id } = page.browserContext();
  await session.send('Browser.setDownloadBehavior', {
    behavior: 'allow',
    downloadPath,
    ...(id !== undefined && { browserContextId: id }),
  });
  await page.locator('::-p-aria(Export[role="button"])').click();
}

/** Waits until the page has written the file. */
async function expectFile({ page }: Visualizer, path: string): Promise<void> {
  for (let tries = 0; tries < 300 && !existsSync(path); tries += 1)
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 50))');
  expect(existsSync(path)).toBe(true);
}

describe('a page whose server is incompatible or silent', () => {
  let server: Server;
  /** Answers the request for the log. */
  let logs: (response: ServerResponse) => void;
  let answers: (write: (line: object) => void, end: () => void) => void;
  /** Whether the key belongs to another run. */
  let refuses: () => boolean;
  /** Whether it answers `HEAD` requests. */
  let answersHead: boolean;

  beforeEach(async () => {
    refuses = () => false;
    answersHead = true;
    const files = new PageFiles();
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost');
      if (pathname === '/api/stream' && refuses()) return response.writeHead(401).end('{}');
      if (request.method === 'HEAD') return void (answersHead && response.writeHead(200).end());
      if (pathname === '/api/stream') {
        response.writeHead(200, { 'content-type': 'application/x-ndjson' });
        response.flushHeaders();
        return answers(
          (line) => response.write(`${JSON.stringify(line)}\n`),
          () => response.end(),
        );
      }
      if (pathname === '/api/log') return logs(response);
      void files.get(pathname).then((file) => {
        response.writeHead(file === undefined ? 404 : 200, {
          'content-type': file?.type ?? 'text/plain',
          ...(file?.isCompressed === true && { 'content-encoding': 'br' }),
        });
        response.end(file?.bytes);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterEach(async () => {
    // An open page would report the broken connections as errors.
    await visualizer.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/#key`;
  const hello = {
    kind: 'hello',
    protocol: INSPECTION_PROTOCOL,
    package: { name: 'x', version: '9' },
    mode: 'live',
    title: 'x',
    charts: {},
    at: 0,
  };

  it('reports the incompatible versions', async () => {
    answers = (write) => write({ ...hello, protocol: 99 });
    const page = await visualizer.open(address());
    await expectText(page, 'h2', (text) => text.includes('different versions'));
    await expectText(
      page,
      '.nothing p',
      (text) => text.includes('version 99') && text.includes(`this page ${INSPECTION_PROTOCOL}`),
    );
    await expectAccessible(page, 'mismatch');
  });

  it('reports that another run answers instead of the one that it shows', async () => {
    let end = (): void => {};
    let isAnother = false;
    answers = (write, stop) => {
      end = stop;
      write(hello);
      write({ kind: 'log', lines: readFileSync(FLAPPING, 'utf8') });
    };
    refuses = () => isAnother;
    const page = await visualizer.open(address());
    await expectText(page, '.fleet-row', (text) => text.startsWith('files'));
    isAnother = true;
    end();
    await expectText(page, '.banner', (text) => text.startsWith('Another run answers here.'));
    await expectAccessible(page, 'another run');
    await expectText(page, '.fleet-row', (text) => text.startsWith('files'));
    page.complaints.splice(0);
  });

  it('shows that a log is being read, and reports that it cannot be read if it breaks off', async () => {
    answers = (write) => write({ ...hello, mode: 'file', title: 'long.jsonl' });
    let log: ServerResponse | undefined;
    logs = (response) => {
      log = response;
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.write('{"troupeLog":2');
    };
    const page = await visualizer.open(address());
    await expectText(page, 'h2', (text) => text === 'Reading the log…');
    await page.page.waitForSelector('progress');
    await expectAccessible(page, 'reading');
    log?.destroy();
    await expectText(page, 'h2', (text) => text === 'The log cannot be read');
    page.complaints.splice(0);
  });

  it('reports since when a silent troupe sent nothing, and continues where it was', async () => {
    let send = (_line: object): void => {};
    let streams = 0;
    answersHead = false;
    answers = (write) => {
      streams += 1;
      send = write;
      write({ ...hello, at: Date.now(), aliveEveryMs: 300 });
      write({ kind: 'log', lines: readFileSync(FLAPPING, 'utf8') });
    };
    const page = await visualizer.open(address());
    await expectText(page, '.banner', (text) =>
      /since ([A-Z][a-z]+ \d+(, \d+)? )?\d\d:\d\d:\d\d\./.test(text),
    );
    await expectText(page, '.when', (text) => /^Silent\s*since .*\d\d:\d\d:\d\d$/.test(text));
    await expectAccessible(page, 'silent');
    await page.scrubTo(0.5);
    await expectText(page, '.when', (text) => text.startsWith('Past'));
    const entry = async (): Promise<string> =>
      (await page.text('.scrubber-time small')).split(' · ')[0] ?? '';
    const before = await entry();
    const alive = setInterval(() => send({ kind: 'alive' }), 100);
    try {
      await expect.poll(() => page.texts('.banner')).toEqual([]);
      expect(await entry()).toBe(before);
      await page.click('Back to live');
      await expectText(page, '.when', (text) => text === 'Live');
      expect(streams).toBe(1);
    } finally {
      clearInterval(alive);
    }
  });

  it('reconnects if its stream is broken and the server still answers', async () => {
    let streams = 0;
    answersHead = false;
    answers = (write) => {
      streams += 1;
      write({ ...hello, ...(streams === 1 && { aliveEveryMs: 100 }) });
      write({ kind: 'log', lines: readFileSync(FLAPPING, 'utf8') });
    };
    const page = await visualizer.open(address());
    await expectText(page, '.fleet-row', (text) => text.startsWith('files'));
    await page.page.type('.fleet input', 'fi');
    answersHead = true;
    await expect.poll(() => streams).toBe(2);
    await expectText(page, '.when', (text) => text === 'Live');
    expect(await page.texts('.banner')).toEqual([]);
    // Typing continues in the same field.
    await page.page.keyboard.type('les');
    expect(await page.page.$eval('.fleet input', ({ value }) => value)).toBe('files');
  });

  it(
    'keeps the newest entries of a long log, and reports that older ones are left out',
    async () => {
      answers = (write) => {
        write(hello);
        for (const lines of manyEntries(FLAPPING, 80)) write({ kind: 'log', lines });
      };
      const page = await visualizer.open(address());
      await expectText(page, '.banner', (text) => text.startsWith('Older entries are left out.'), LOADING_MS);
      await expectText(page, '.fleet-row', (text) => text.startsWith('files'));
      await page.scrubTo(0.5);
      await expectText(page, '.when', (text) => text.startsWith('Past'));
      await expectText(page, '.fleet-row', (text) => text.startsWith('files'));
    },
    2 * LOADING_MS,
  );

  it('shows that it is connecting, reports a disconnection, and reconnects by itself', async () => {
    let end = (): void => {};
    answers = (_write, stop) => {
      end = stop;
    };
    const page = await visualizer.open(address());
    await expectText(page, 'h2', (text) => text === 'Connecting…');
    await expectAccessible(page, 'connecting');
    answers = (_write, stop) => stop();
    end();
    await expectText(page, 'h2', (text) => text === 'Not connected');
    answers = (write) => write(hello);
    await expectText(page, 'h2', (text) => text === 'Waiting for the first entries…');
  });
});
