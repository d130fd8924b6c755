// Measures how fast the page opens and scrubs a log of a million entries, and the latency of an event to the screen.
// Usage: npm run build && node tools/bench/visualizer.mjs [ENTRIES] (default 1,000,000)
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loadSources } from '../load-sources.mjs';
import { BusyTroupe } from './busy-troupe.mjs';
import { fromDist } from './from-dist.mjs';
import { inProcessServer } from './small-server.mjs';

const { createTroupe } = await fromDist('src/index.js');
const { FileSource } = await fromDist('src/inspector/file-source.js');
const { openInspectionServer } = await fromDist('src/inspector/inspection-server.js');
const { systemClock } = await fromDist('src/ports.js');

const ENTRIES = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = 5;
const SCRUB_MS = 5_000;
const FLEET = 50;
const EVENTS = 500;
const BETWEEN_EVENTS_MS = 10;
const LIMIT_MS = 60_000;
const VIEWS = ['fleet', 'chart', 'timeline', 'events', 'sequence'];

const sorted = (values) => values.toSorted((a, b) => a - b);
const median = (values) => sorted(values)[Math.floor(values.length / 2)];
const line = (label, value) => console.log(`  ${label.padEnd(52)} ${value.padStart(14)}`);

async function write(file) {
  const fd = openSync(file, 'wx', 0o600);
  const written = { lines: 0 };
  const sink = {
    write: (text) => {
      for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) written.lines += 1;
      writeSync(fd, text);
    },
    close: () => closeSync(fd),
  };
  const troupe = new BusyTroupe(sink);
  while (written.lines <= ENTRIES) await troupe.run(1_000);
  await troupe.close();
}

/** Seconds of processor time of the browser and its descendants; NaN without /proc. */
function processorTime(pid) {
  if (!existsSync('/proc/self/stat')) return NaN;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).map(Number);
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim().split(' ').filter(Boolean),
  );
  return children.reduce((sum, child) => sum + processorTime(child), (user + system) / 100);
}

/** Resolves with the time at which the complete log is loaded and drawn. */
const OPENED = `new Promise((resolve) => {
  const look = () => {
    const isThere = document.querySelector('.fleet-row') !== null && document.querySelector('.when.recorded')?.innerText.startsWith('Recorded');
    if (isThere) requestAnimationFrame(() => resolve(performance.timeOrigin + performance.now()));
    else requestAnimationFrame(look);
  };
  look();
})`;

async function windowAt(browser, url) {
  const page = await browser.newPage();
  page.setDefaultTimeout(LIMIT_MS);
  await page.setViewport({ width: 1280, height: 720 });
  await page.goto(url, { waitUntil: 'load' });
  return page;
}

/** Opens the address as a user would. */
async function openServed(browser, url) {
  const begun = Date.now();
  const page = await windowAt(browser, url);
  const took = (await page.evaluate(OPENED)) - begun;
  await page.close();
  return took;
}

/** Starts when the file is dropped on the page. */
async function openDropped(browser, url, file) {
  const page = await windowAt(browser, new URL('/', url).href);
  const input = await page.waitForSelector('input[type=file]');
  await page.evaluate(`document.addEventListener('change', () => {
    globalThis.begun = performance.timeOrigin + performance.now();
  }, { capture: true, once: true })`);
  await input.uploadFile(file);
  const end = await page.evaluate(OPENED);
  return { page, took: end - (await page.evaluate('globalThis.begun')) };
}

/** Drags the handle over the whole log and back: frames per second, and how many of them show another moment. */
const SCRUB = `new Promise((resolve) => {
  const slider = document.querySelector('.scrubber input');
  const time = document.querySelector('.scrubber-time .mono');
  const begun = performance.now();
  const frames = [];
  let moments = 0;
  let seen = time.textContent;
  const next = (now) => {
    frames.push(now);
    if (time.textContent !== seen) moments += 1;
    seen = time.textContent;
    if (now - begun > ${SCRUB_MS}) return resolve({ frames, moments });
    const share = Math.abs(1 - (((now - begun) / ${SCRUB_MS / 2}) % 2));
    slider.value = String(Number(slider.max) * share);
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})`;

async function scrub(page) {
  console.log(`Scrubbing, ${SCRUB_MS / 1_000} s through the whole log and back`);
  await page.locator('.fleet-row').click();
  for (const view of VIEWS) {
    await page.click(`#tab-${view}`);
    await page.waitForSelector(`#panel-${view}`);
    await pause(1_000);
    const { pid } = page.browser().process();
    const before = processorTime(pid);
    const { frames, moments } = await page.evaluate(SCRUB);
    const spent = processorTime(pid) - before;
    const seconds = (frames.at(-1) - frames[0]) / 1_000;
    line(`${view}, frames per second`, (frames.length / seconds).toFixed(0));
    line(`${view}, new positions per second`, (moments / seconds).toFixed(0));
    line(`${view}, processor time per position, ms`, ((spent * 1_000) / moments).toFixed(0));
  }
}

/**
 * Milliseconds from an event to the frame in which the page shows it. An event is a command that the chart rejects. Its row
 * is found by the connection, which gets the next command after half a second.
 */
async function eventToPixel(browser) {
  const servers = Object.fromEntries(
    Array.from({ length: FLEET }, (_, at) => [`s${at}`, { type: 'in-process', server: inProcessServer() }]),
  );
  const troupe = createTroupe({ servers, cache: false });
  await troupe.start();
  const { url } = await troupe.inspect();
  const page = await windowAt(browser, url);
  await page.waitForSelector('.fleet-row');
  await page.click('#tab-events');
  await page.waitForSelector('.event-row');
  await page.evaluate(`{
    globalThis.seen = new Map();
    const look = () => requestAnimationFrame(() => {
      const at = performance.timeOrigin + performance.now();
      for (const row of document.querySelectorAll('.event-row.kind-rejection'))
        if (!seen.has(row.dataset.seq)) seen.set(row.dataset.seq, [row.querySelector('.event-lane').textContent, at]);
      look();
    });
    look();
  }`);
  const begun = [];
  for (let event = 0; event < EVENTS; event += 1) {
    const name = `s${event % FLEET}`;
    begun.push([name, performance.timeOrigin + performance.now()]);
    troupe.connection(name).dispatch({ type: 'connection.retry' });
    await pause(BETWEEN_EVENTS_MS);
  }
  await pause(1_000);
  const seen = await page.evaluate('[...seen.values()]');
  await page.close();
  await troupe.close();
  return seen.map(([name, at]) => at - begun.findLast(([of, when]) => of === name && when <= at)[1]);
}

const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'));
const sources = await loadSources();
const { launchChromium } = await sources.load('/test/browser/chromium.ts');
const browser = await launchChromium(LIMIT_MS);
try {
  const file = join(folder, 'many.jsonl');
  await write(file);
  const source = new FileSource([{ label: '', parts: [file] }], 'many.jsonl', systemClock);
  const server = await openInspectionServer({ source, clock: systemClock, port: 0 });
  const size = (statSync(file).size / 1e6).toFixed(0);
  const load = loadavg()[0].toFixed(1);
  console.log(`Opening ${ENTRIES.toLocaleString('en')} entries (${size} MB), milliseconds, ${ROUNDS} rounds`);
  line(`of ${cpus().length} processors others wanted`, load);
  const [dropped, served] = [[], []];
  let last;
  for (let round = 0; round < ROUNDS; round += 1) {
    served.push(await openServed(browser, server.url));
    await last?.close();
    const { page, took } = await openDropped(browser, server.url, file);
    dropped.push(took);
    last = page;
  }
  for (const [way, took] of [
    ['dropped', dropped],
    ['served (troupe inspect LOG), the page included', served],
  ]) {
    line(way, median(took).toFixed(0));
    line(`${way}, least`, Math.min(...took).toFixed(0));
  }
  await scrub(last);
  await last.close();
  await server.close();
  const waits = sorted(await eventToPixel(browser));
  console.log(`From an event to the screen, milliseconds, about 100 a second in a fleet of ${FLEET}`);
  line(`seen of ${EVENTS}`, String(waits.length));
  line('median', waits[Math.floor(waits.length / 2)].toFixed(0));
  line('99th percentile', waits[Math.floor(waits.length * 0.99)].toFixed(0));
} finally {
  await browser.close();
  await sources.close();
  rmSync(folder, { recursive: true });
}
