/** The built documentation site: its links, its search, its charts, and the recorded incident. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Frame, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { useLeakCheck } from '../support/leak-check.js';
import { useBrowser } from './browser.js';

useLeakCheck();
vi.setConfig({ testTimeout: 60_000 });

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** A build takes half a minute; here it shares two cores with other tests. */
const BUILD_MS = 240_000;
/** How many results a reader looks at. */
const FIRST = 3;

const QUESTIONS: readonly (readonly [question: string, answer: string])[] = [
  ['how do I log', '/guide/logging.html'],
  ['Docker', '/guide/docker.html'],
  ['Next.js', '/guide/nextjs.html'],
  ["migrate from the SDK's Client", '/guide/migrating.html#from-the-sdks-client'],
  ['MultiServerMCPClient', '/guide/migrating.html#from-multiservermcpclient-langchain'],
  ['mcp-use', '/guide/migrating.html#from-mcp-use'],
  ['createMCPClient', '/guide/migrating.html#from-createmcpclient-ai-sdk'],
  ['timeouts', '/guide/configuration.html#timeouts'],
  ['proxy', '/guide/behind-a-proxy.html'],
  ['corporate proxy', '/guide/configuration.html#proxies-certificates-and-sockets'],
  ['OAuth sign-in without a browser', '/guide/sign-in.html#a-host-without-a-browser'],
  ['environment variables', '/guide/configuration.html#variables'],
  ['it starts slowly', '/guide/troubleshooting.html#it-starts-slowly'],
  ['zombie processes', '/guide/docker.html#a-host-in-a-container'],
  ['VS Code', '/examples/vscode-extension/'],
  ['test my host', '/guide/testing.html'],
  ['share a recording', '/guide/recording.html'],
  ['retry settings', '/guide/recovery.html'],
  ['where are tokens stored', '/guide/sign-in.html#stores'],
  ['are my secrets in the log', '/guide/logging.html#what-is-not-in-a-log'],
  ['API key', '/guide/configuration.html'],
  ['stop a server', '/guide/recovery.html#stop-or-restart-one-server'],
  ['disable a server', '/guide/recovery.html#stop-or-restart-one-server'],
  ['the server crashes', '/guide/recovery.html#a-server-is-lost'],
  ['hot reload', '/guide/configuration.html#reload-while-it-runs'],
  ['ask the user before a call', '/guide/agent-loop.html#asking-the-user'],
  ['too many tools', '/guide/agent-loop.html#fewer-tools'],
  ['sampling', '/guide/server-requests.html'],
  ['spawn ENOENT', '/guide/troubleshooting.html#the-server-does-not-start'],
];

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

const folder = mkdtempSync(join(tmpdir(), 'troupe-site-'));
let server: Server;
let url: string;
/** Paths of the files that were built, from the root of the site. */
let files: ReadonlySet<string>;

beforeAll(async () => {
  await build();
  files = new Set(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length)),
  );
  server = createServer((request, response) => {
    const path = fileAt(new URL(request.url ?? '', 'http://site.example').pathname);
    response.writeHead(files.has(path) ? 200 : 404, { 'content-type': TYPES[extname(path)] ?? 'text/plain' });
    response.end(files.has(path) ? readFileSync(join(folder, path)) : '');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}, BUILD_MS + 10_000);

afterAll(async () => {
  rmSync(folder, { recursive: true });
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
});

async function build(): Promise<void> {
  const vitepress = join(ROOT, 'node_modules/vitepress/bin/vitepress.js');
  const child = spawn(process.execPath, [vitepress, 'build', 'docs'], {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: 'production', SITE_OUT: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: BUILD_MS,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`The site was not built (${code}):\n${output}`);
}

const fileAt = (path: string): string => {
  const decoded = decodeURI(path);
  return decoded.endsWith('/') ? `${decoded}index.html` : decoded;
};

// Later hooks run first, so the browser is closed before the files are deleted.
const browser = useBrowser();
const complaints: string[] = [];

afterEach(() => {
  expect(complaints.splice(0)).toEqual([]);
});

/** A page of the site. The test fails if the page loads anything from elsewhere, or logs a warning or an error. */
async function open(path: string): Promise<Page> {
  const page = await browser.window();
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== url && !['data:', 'blob:'].includes(protocol))
      complaints.push(`requests ${request.url()}`);
  });
  await page.setViewport({ width: 1280, height: 800 });
  await page.goto(url + path, { waitUntil: 'networkidle0' });
  return page;
}

/** The links and sources of a page, and its ids. */
function readPage(path: string): { readonly links: readonly string[]; readonly ids: ReadonlySet<string> } {
  const html = readFileSync(join(folder, path), 'utf8');
  const text = (value: string): string => value.replaceAll('&amp;', '&').replaceAll('&#39;', "'");
  const attributes = (name: string): string[] =>
    [...html.matchAll(new RegExp(`<[a-z][^>]*?\\s${name}="([^"]*)"`, 'g'))].map(([, value = '']) =>
      text(value),
    );
  return { links: [...attributes('href'), ...attributes('src')], ids: new Set(attributes('id')) };
}

describe('the site', () => {
  it('has no dead link, and every page can be reached', () => {
    const pages = [...files].filter((path) => path.endsWith('.html') && !path.startsWith('/live/'));
    const read = new Map(pages.map((path) => [path, readPage(path)]));
    const reached = new Set(['/404.html']);
    const dead: string[] = [];
    for (const [path, { links }] of read) {
      for (const link of links) {
        const target = new URL(link, `http://site.example${path}`);
        if (target.origin !== 'http://site.example') continue;
        const file = fileAt(target.pathname);
        if (file !== path) reached.add(file);
        const ids = read.get(file)?.ids;
        const heading = decodeURIComponent(target.hash.slice(1));
        if (!files.has(file) || (heading !== '' && ids?.has(heading) === false))
          dead.push(`${path} -> ${link}`);
      }
    }
    expect(dead).toEqual([]);
    expect(pages.filter((path) => !reached.has(path))).toEqual([]);
  });

  it('has a page for every Markdown file of the documentation', () => {
    const isPage = (path: string): boolean =>
      path.endsWith('.md') && !/(^|\/)(node_modules|dist|\.vitepress)\//.test(path);
    const pages = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).filter(isPage);
    const addresses = pages.map((path) => posix.join('/', path.replace(/README\.md$/, 'index.md')));
    expect(addresses.filter((path) => !files.has(path.replace(/\.md$/, '.html')))).toEqual([]);
  });

  it('answers questions within the first results of its search', async () => {
    const page = await open('/');
    await page.locator('.DocSearch-Button').click();
    await page.waitForSelector('#localsearch-input');
    const unanswered: string[] = [];
    for (const [question, answer] of QUESTIONS) {
      const found = await search(page, question);
      if (!found.slice(0, FIRST).some((address) => address.startsWith(answer)))
        unanswered.push(`${question}: ${found.join(' ')}`);
    }
    expect(unanswered).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForFunction(`location.pathname !== '/'`);
  });

  it('is light or dark, as the reader chooses, and accessible in both', async () => {
    const page = await open('/guide/trust.html');
    const background = async (): Promise<unknown> =>
      page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await background();
    await expectAccessible(page, 'light');
    await page.locator('.VPSwitchAppearance').click();
    await page.waitForFunction(`document.documentElement.classList.contains('dark')`);
    expect(await background()).not.toBe(light);
    await page.goto(`${url}/decisions/`, { waitUntil: 'networkidle0' });
    expect(await page.evaluate(`document.documentElement.classList.contains('dark')`)).toBe(true);
    await expectAccessible(page, 'dark');
  });

  it('enlarges a chart with keys, buttons and the mouse, and can fill the window with it', async () => {
    const page = await open('/machines/connection.html');
    await expectAccessible(page, 'a chart');
    const width = async (within = '.chart-view >'): Promise<number> =>
      (await page.evaluate(
        `document.querySelector('${within} .chart-canvas img').getBoundingClientRect().width`,
      )) as number;
    const whole = await width();
    await page.focus('.chart-place');
    await page.keyboard.press('+');
    await page.waitForFunction(`document.querySelector('.chart-tools output').innerText === '150 %'`);
    expect(await width()).toBeCloseTo(whole * 1.5, 0);
    await page.locator('::-p-aria(Zoom in[role="button"])').click();
    await page.waitForFunction(`document.querySelector('.chart-tools output').innerText === '225 %'`);

    const scrolled = async (): Promise<number> =>
      (await page.evaluate(`document.querySelector('.chart-place').scrollTop`)) as number;
    const before = await scrolled();
    await page.focus('.chart-place');
    await page.keyboard.press('ArrowDown');
    await page.waitForFunction(`document.querySelector('.chart-place').scrollTop > ${before}`);
    await page.mouse.move(600, 600);
    await page.mouse.down();
    await page.mouse.move(600, 400, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(`document.querySelector('.chart-place').scrollTop > ${before} + 100`);

    await page.keyboard.press('0');
    await page.waitForFunction(`document.querySelector('.chart-tools output').innerText === '100 %'`);
    await page.locator('::-p-aria(Fill the window[role="button"])').click();
    await page.waitForSelector('.chart-dialog[open]');
    expect(await width('.chart-dialog')).toBeGreaterThan(whole);
    await page.keyboard.press('Escape');
    await page.waitForFunction(`document.querySelector('.chart-dialog') === null`);
  });

  it('shows a recorded incident in the visualizer, without a request to elsewhere', async () => {
    const page = await open('/guide/incident.html');
    const element = await page.waitForSelector('.incident-page iframe');
    const live = (await element?.contentFrame()) as Frame;
    await live.locator('.fleet-row ::-p-text(files)').click();
    await live.locator('#tab-chart').click();
    await live.waitForSelector('.chart-state[data-active=true]');
    await live.evaluate(`{
      const slider = document.querySelector('.scrubber input');
      slider.value = String(Number(slider.max) * 0.75);
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    }`);
    await live.locator('#tab-details').click();
    await live.waitForFunction(`document.body.innerText.includes('crash-loop')`);
    expect(await live.evaluate('document.title')).toContain('Troupe');
  });
});

/** Addresses of the results, best first. */
async function search(page: Page, question: string): Promise<readonly string[]> {
  const type = async (text: string): Promise<unknown> =>
    page.evaluate(`{
      const input = document.querySelector('#localsearch-input');
      input.value = ${JSON.stringify(text)};
      input.dispatchEvent(new Event('input', { bubbles: true }));
    }`);
  await type('');
  await page.waitForFunction(`document.querySelector('.results a.result') === null`);
  await type(question);
  await page.waitForSelector('.results a.result');
  return (await page.evaluate(
    `[...document.querySelectorAll('.results a.result')].map(({ pathname, hash }) => pathname + hash)`,
  )) as readonly string[];
}

/** Checks the present page, without the incident, which has its own tests, and the search button of the theme, whose name omits its keys. */
async function expectAccessible(page: Page, where: string): Promise<void> {
  await page.evaluate(`if (globalThis.axe === undefined) {${AXE}}`);
  const { violations } = (await page.evaluate(
    'axe.run({ exclude: ["iframe", ".DocSearch-Button"] }, { resultTypes: ["violations"] })',
  )) as AxeResults;
  const found = violations
    .filter(({ impact }) => impact !== 'minor')
    .map(({ id, nodes }) => `${where}: ${id}: ${nodes.map(({ html }) => html.slice(0, 140)).join(' | ')}`);
  expect(found).toEqual([]);
}
