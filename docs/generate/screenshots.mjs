/**
 * Writes docs/images/*.png: every view of the page, light and dark, of the fleet that the browser tests also use.
 *
 *     node docs/generate/screenshots.mjs
 *
 * Needs the built page (`npm run build`). The sources are read as they are, so nothing else has to be built.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import chromium from '@sparticuz/chromium';
import puppeteer from 'puppeteer-core';
import { createServer } from 'vite';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const IMAGES = join(ROOT, 'docs/images');
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
const SIZE = { width: 1280, height: 720 };
const PHONE = { width: 390, height: 844, deviceScaleFactor: 1 };

/** What is done before each picture. */
const VIEWS = {
  fleet: async () => {},
  chart: async (page) => {
    await page.click('#tab-chart');
    await page.waitForSelector('.chart-state[data-active=true]');
    await rest(page);
  },
  timeline: async (page) => {
    await page.click('#tab-timeline');
    await page.waitForSelector('#lane-story li');
  },
  events: async (page) => {
    await page.click('#tab-events');
    await page.type('input[type=search]', 'session.lost');
    await page.waitForFunction(
      `document.querySelector('.events .toolbar-note')?.innerText.startsWith('2 of')`,
    );
    await page.locator('.event-row').click();
    await page.waitForSelector('.diff');
  },
  sequence: async (page) => {
    await page.click('#tab-sequence');
    await page.waitForSelector('.sequence-row');
  },
  past: async (page) => {
    await page.click('#tab-timeline');
    await scrub(page, 0.42);
    await page.waitForSelector('.when.past');
  },
};

const rest = (page) =>
  page.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))');

const scrub = (page, share) =>
  page.evaluate(`{
    const slider = document.querySelector('.scrubber input');
    slider.value = String(Number(slider.max) * ${share});
    slider.dispatchEvent(new Event('input', { bubbles: true }));
  }`);

const modules = await createServer({
  root: ROOT,
  configFile: false,
  logLevel: 'error',
  appType: 'custom',
  server: { middlewareMode: true, watch: null, ws: false, hmr: false },
  optimizeDeps: { noDiscovery: true },
});
const { makeScene, playScene } = await modules.ssrLoadModule('/test/browser/visualizer-scene.ts');
const { openInspectionServer } = await modules.ssrLoadModule('/src/inspection/server.ts');
const { FileSource } = await modules.ssrLoadModule('/src/inspection/file-source.ts');
const { systemClock } = await modules.ssrLoadModule('/src/ports.ts');

const scene = makeScene();
await playScene(scene);
const folder = await mkdtemp(join(tmpdir(), 'troupe-pictures-'));
const log = join(folder, 'morning.jsonl');
await writeFile(log, scene.log());
const closing = scene.troupe.close();
await scene.clock.advance(10_000);
await closing;

const source = new FileSource([log], 'morning.jsonl', systemClock);
const server = await openInspectionServer({
  source,
  clock: systemClock,
  port: 0,
  folder: join(ROOT, 'dist/visualizer'),
});
const browser = await puppeteer.launch({
  executablePath: process.env.CHROME_PATH ?? (await chromium.executablePath()),
  args: ARGS,
  headless: 'shell',
});
await mkdir(IMAGES, { recursive: true });
for (const theme of ['light', 'dark']) {
  for (const [name, prepare] of Object.entries(VIEWS))
    await picture(`${name}-${theme}`, theme, SIZE, prepare);
  await picture(`phone-${theme}`, theme, PHONE, VIEWS.timeline);
}
await browser.close();
await server.close();
await modules.close();
await rm(folder, { recursive: true });

async function picture(name, theme, size, prepare) {
  const page = await browser.newPage();
  await page.setViewport(size);
  await page.emulateTimezone('UTC');
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  await page.goto(server.url);
  await page.locator('.fleet-row ::-p-text(search)').click();
  await page.waitForSelector('.phases, .panel');
  await prepare(page);
  // What is asked of the log's worker is there a few frames later.
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 400))');
  await page.screenshot({ path: join(IMAGES, `${name}.png`) });
  await page.close();
}
