/** The page with a recorded log: every view, the past, dropped files, small screens, and accessibility. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FileSource } from '../../src/inspector/file-source.js';
import { openInspectionServer, type InspectionServer } from '../../src/inspector/inspection-server.js';
import { systemClock } from '../../src/ports.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';
import { bookOf } from '../support/sample-book.js';
import { expectAccessible, useVisualizer, type PageOptions } from './use-visualizer.js';
import { PICTURES, GUIDE_PICTURE, takePicture } from '../../tools/screenshots/pictures.js';
import { expectActive, expectText, type Visualizer } from './visualizer-page.js';
import { makeScene, playScene } from './visualizer-scene.js';

useLeakCheck();
useCrashWatch();
// Charts are drawn without a graphics card, perhaps on a busy machine.
vi.setConfig({ testTimeout: 60_000 });
/** A hundred megabytes are written, sent to the page and read there. */
const LOADING_MS = 90_000;

const ROOT = new URL('../../', import.meta.url);

let folder: string;
let file: string;
let server: InspectionServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-page-'));
  file = join(folder, 'morning.jsonl');
  const scene = makeScene();
  await playScene(scene);
  writeFileSync(file, scene.log());
  const closing = scene.troupe.close();
  await scene.clock.advance(10_000);
  await closing;
  const source = new FileSource([{ label: '', parts: [readFileSync(file)] }], 'morning.jsonl', systemClock);
  server = await openInspectionServer({ source, clock: systemClock, port: 0 });
}, 60_000);

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

// Later hooks run first, so the browser is closed in any case.
const visualizer = useVisualizer();

async function recorded(options: PageOptions = {}): Promise<Visualizer> {
  const page = await visualizer.open(server.url, options);
  await expectText(page, '.fleet-row', (text) => text.includes('calendar'));
  await expectText(page, '.when', (text) => text.startsWith('Recorded'));
  return page;
}

/** A log that starts with `count` connections, all in the final state of one in a recorded log. */
function fleetOf(count: number, recording: string): string {
  const text = readFileSync(recording, 'utf8');
  const book = bookOf(text);
  const folded = book.stateOf(book.length - 1, '$/git#1');
  const manager = book.stateOf(0, '$');
  const machines = [
    { to: '$', ...manager },
    ...Array.from({ length: count }, (_, index) => {
      const name = `server-${index}`;
      return { to: `$/${name}#1`, ...folded, context: { ...folded?.context, name } };
    }),
  ];
  const entries = machines.map(({ to, ...state }, index) =>
    JSON.stringify({
      ...{ seq: index + 1, at: 1_700_000_000_000, kind: 'snapshot', to },
      ...{ ...state, left: machines.length - index - 1, check: '0' },
    }),
  );
  return `${text.slice(0, text.indexOf('\n'))}\n${entries.join('\n')}\n`;
}

/** Addresses of the workers that lay charts out. */
function layoutWorkers({ page }: Visualizer): readonly string[] {
  return page.workers().flatMap((worker) => (worker.url().includes('elk') ? worker.url() : []));
}

/** The share of the pixels whose color clearly differs between two pictures; 1 if their sizes differ. */
async function differenceOf({ page }: Visualizer, ...pictures: readonly Uint8Array[]): Promise<number> {
  const addresses = pictures.map((png) => `data:image/png;base64,${Buffer.from(png).toString('base64')}`);
  return (await page.evaluate(`(async () => {
    const [a, b] = await Promise.all(${JSON.stringify(addresses)}.map(async (src) => {
      const image = Object.assign(new Image(), { src });
      await image.decode();
      const { width, height } = image;
      const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, width, height);
    }));
    if (a.width !== b.width || a.height !== b.height) return 1;
    let count = 0;
    for (let at = 0; at < a.data.length; at += 4)
      if ([0, 1, 2].some((part) => Math.abs(a.data[at + part] - b.data[at + part]) > 48)) count += 1;
    return count / (a.width * a.height);
  })()`)) as number;
}

const NO_LOG = 'This is not an event log. Line 1 is not the header of an event log.';
const VIEWS = ['Fleet', 'Chart', 'Timeline', 'Events', 'Sequence'];

describe('the page with a recorded log', () => {
  it('lists every connection, finds some, and shows every detail of one', async () => {
    const page = await recorded();
    expect(await page.texts('.fleet-name strong')).toEqual([
      'files',
      'search',
      'git',
      'weather',
      'memory',
      'calendar',
    ]);
    expect(await page.text('.source')).toBe('morning.jsonl');
    await page.page.locator('.chip ::-p-text(failed)').click();
    await expectText(page, '.toolbar-note', (text) => text === '1 of 6 connections');
    expect(await page.texts('.fleet-name strong')).toEqual(['weather']);
    await page.page.locator('.chip ::-p-text(failed)').click();
    await page.page.type('input[type=search]', 'port is taken');
    await expectText(page, '.toolbar-note', (text) => text === '1 of 6 connections');
    await page.select('search');
    await expectText(page, '.side', (text) => text.includes('4 of 5'));
    const details = await page.text('.side');
    expect(details).toContain('spawn-failed');
    expect(details).toContain('Time per phase');
    expect(details).toContain('search 0.9.1');
  });

  it('shows the active states of an actor, its last transition and how often it entered each state', async () => {
    const page = await recorded();
    await page.select('search');
    await page.show('Chart');
    await expectActive(page, 'connection.reconnecting.backingOff');
    expect(await page.active()).toEqual(['connection.reconnecting', 'connection.reconnecting.backingOff']);
    expect(await page.text('.chart-view .toolbar-note')).toBe(
      'Last transition: release of the old session: done',
    );
    const state = await page.page.waitForSelector('[data-state="connection.reconnecting.backingOff"]');
    const label = await state?.evaluate((element) => element.getAttribute('aria-label'));
    expect(label).toMatch(/^waiting for the next attempt, active, entered [3-9] times/);
    expect(await page.texts('.chart-text.possible')).not.toEqual([]);
    expect(await page.page.$$('.chart-way.taken')).toHaveLength(1);
    await page.rest();
    await state?.hover();
    await expectText(page, '.chart-tooltip', (text) => text.startsWith('waiting for the next attempt'));
  });

  it('zooms, pans, fits and follows with pointer and keys, and draws the other charts', async () => {
    const page = await recorded();
    await page.show('Chart');
    await expectActive(page, 'manager.phase.running');
    const camera = async (): Promise<string> =>
      String(await page.page.evaluate('document.querySelector(".camera").style.transform'));
    const start = await camera();
    await page.page.focus('.chart-canvas');
    await page.page.keyboard.press('+');
    await page.page.keyboard.press('ArrowLeft');
    expect(await camera()).not.toBe(start);
    await page.click('Fit');
    const fitted = await camera();
    await page.page.mouse.move(400, 400);
    await page.page.mouse.wheel({ deltaY: -300 });
    await page.page.mouse.down();
    await page.page.mouse.move(460, 430);
    await page.page.mouse.up();
    const dragged = await camera();
    expect(dragged).not.toBe(fitted);
    // The menu of the browser receives the release of the button.
    await page.page.mouse.move(400, 400);
    await page.page.mouse.down({ button: 'right' });
    await page.page.evaluate(`document.querySelector('.chart-canvas').dispatchEvent(
      new PointerEvent('pointermove', { pointerId: 1, clientX: 500, clientY: 500, buttons: 0 }),
    )`);
    await page.page.mouse.up({ button: 'right' });
    expect(await camera()).toBe(dragged);
    expect(await page.page.$$('.minimap-sight')).toHaveLength(1);
    await page.page.select('.choice:nth-of-type(2) select', 'review');
    await page.page.waitForSelector('[data-state="review.judged"]');
    expect(await page.active()).toEqual([]);
    expect(await page.text('.chart-view .toolbar-note')).toContain('Chart only');
    await page.page.select('.choice select', 'git');
    await expectActive(page, 'connection.ready');
    expect(await page.active()).toContain('connection.ready.catalog.current');
  });

  it('scrolls every state into view that receives the focus', async () => {
    const page = await recorded();
    await page.select('search');
    await page.show('Chart');
    await expectActive(page, 'connection.reconnecting.backingOff');
    await page.rest();
    await page.page.focus('.chart-canvas');
    /** How far the name of the focused state is outside, in pixels; undefined if no state has the focus. */
    const outside = `(() => {
      const name = document.activeElement.querySelector(':scope > .chart-name')?.getBoundingClientRect();
      if (name === undefined) return undefined;
      const box = document.querySelector('.chart-canvas').getBoundingClientRect();
      return Math.max(0, box.left - name.left, name.right - box.right, box.top - name.top, name.bottom - box.bottom);
    })()`;
    let states = 0;
    for (; states < 100; states += 1) {
      await page.page.keyboard.press('Tab');
      if ((await page.page.evaluate(outside)) === undefined) break;
      await expect.poll(() => page.page.evaluate(outside)).toBe(0);
    }
    expect(states).toBeGreaterThan(30);
    expect(await page.page.evaluate(`document.querySelector('.chart-canvas').scrollTop`)).toBe(0);
  });

  it('draws a lane for each connection, describes its content, and zooms to a selected part', async () => {
    const page = await recorded();
    await page.select('search');
    await page.show('Timeline');
    await expectText(page, '#lane-story li', (text) => text.startsWith('failure at'));
    await expect.poll(() => page.texts('.lane-name')).toHaveLength(6);
    await expectText(page, '#lane-story li', (text) =>
      text.startsWith('reconnecting: waiting for the next attempt from'),
    );
    const colors = (): Promise<unknown> =>
      page.page.evaluate(`{
        const canvas = document.querySelector('.timeline-canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 26, canvas.width, 180);
        new Set(new Uint32Array(data.buffer)).size;
      }`);
    // The lanes are drawn with the next frame.
    await expect.poll(colors).toBeGreaterThan(6);
    for (const [name, mark] of [
      ['files', 'rejection'],
      ['files', 'call'],
      ['git', 'list change'],
    ] as const) {
      await page.page.locator(`.lane-name ::-p-text(${name})`).click();
      await expectText(page, '#lane-story li', (text) => text.startsWith(`${mark} at`));
    }
    await page.page.locator('.lane-name ::-p-text(search)').click();
    const whole = await page.text('.timeline .toolbar-note');
    const box = await (await page.page.$('.timeline-canvas'))?.boundingBox();
    const { x = 0, y = 0, width = 0 } = box ?? {};
    await page.page.mouse.move(x + width * 0.6, y + 100);
    await page.page.mouse.down();
    await page.page.mouse.move(x + width * 0.8, y + 110, { steps: 4 });
    await page.page.mouse.up();
    await expectText(page, '.timeline .toolbar-note', (text) => text !== whole && /· [23]\.\d s$/.test(text));
    await page.click('All');
    await expectText(page, '.timeline .toolbar-note', (text) => text === whole);
    await page.page.focus('.timeline-canvas');
    await page.page.keyboard.press('ArrowUp');
    await expectText(page, '.side h2', (text) => text === 'files');
    // The visible part follows the moment.
    await page.scrubTo(0.5);
    await expectText(page, '.when', (text) => text.startsWith('Past'));
    // Every key counts, however fast they come.
    await page.page.evaluate(`for (let times = 0; times < 3; times += 1)
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '+', bubbles: true }));`);
    await expectText(page, '.timeline .toolbar-note', (text) => /· [12]\.\d s$/.test(text));
    const part = await page.text('.timeline .toolbar-note');
    for (let step = 0; step < 60; step += 1) await page.page.keyboard.press('ArrowLeft');
    await expectText(page, '.timeline .toolbar-note', (text) => text !== part);
    // Every press has arrived.
    let moment = '';
    await expect
      .poll(
        async () => {
          const before = moment;
          moment = await page.text('.scrubber-time');
          return moment === before;
        },
        { interval: 250 },
      )
      .toBe(true);
    await expect
      .poll(async () => {
        const [from = '', , to = ''] = (await page.text('.timeline .toolbar-note')).split(' ');
        const [shown = ''] = (await page.text('.scrubber-time')).split('\n');
        return from <= shown && shown <= to;
      })
      .toBe(true);
    // The page returns to the part that the user has chosen, unless the moment has moved.
    await page.page.keyboard.press('0');
    await page.page.mouse.move(x + width * 0.9, y + 100);
    await page.page.mouse.down();
    await page.page.mouse.move(x + width * 0.95, y + 110, { steps: 4 });
    await page.page.mouse.up();
    await expectText(page, '.timeline .toolbar-note', (text) => text.endsWith(' ms'));
    const elsewhere = await page.text('.timeline .toolbar-note');
    await page.show('Events');
    await page.show('Timeline');
    await expectText(page, '.timeline .toolbar-note', (text) => text === elsewhere);
    await page.show('Events');
    await page.scrubTo(0.2);
    await page.show('Timeline');
    await expectText(page, '.timeline .toolbar-note', (text) => text !== elsewhere);
    // A click in the part goes to a moment in it, and does not move the part.
    await page.page.keyboard.press('l');
    await page.click('All');
    await page.page.mouse.move(x + width * 0.3, y + 100);
    await page.page.mouse.down();
    await page.page.mouse.move(x + width * 0.5, y + 110, { steps: 4 });
    await page.page.mouse.up();
    await expectText(page, '.timeline .toolbar-note', (text) => text !== whole);
    const clicked = await page.text('.timeline .toolbar-note');
    await page.page.mouse.click(x + width * 0.7, y + 10);
    await expectText(page, '.when', (text) => text.startsWith('Past'));
    const [from = '', , to = ''] = clicked.split(' ');
    await expectText(page, '.when .mono', (moment) => from <= moment && moment <= to);
    expect(await page.text('.timeline .toolbar-note')).toBe(clicked);
  });

  it('moves as a whole to any moment, shows that it is in the past, and returns', async () => {
    const page = await recorded();
    await page.select('weather');
    await page.scrubTo(0);
    await expectText(page, '.when', (text) => text.startsWith('Past'));
    await expectText(page, '.fleet-row', (text) => text.startsWith('weather') && text.includes('retrying'));
    await expectText(page, '.side .state-badge', (text) => /^(reconnecting|retrying)/.test(text));
    await page.show('Chart');
    await expectActive(page, 'connection.reconnecting');
    await page.show('Timeline');
    await page.page.focus('.timeline-canvas');
    const time = await page.text('.scrubber-time');
    await page.page.keyboard.down('Shift');
    await page.page.keyboard.press('ArrowRight');
    await page.page.keyboard.up('Shift');
    await expectText(page, '.scrubber-time', (text) => text !== time);
    await page.page.keyboard.press(',');
    await page.click('To the end');
    await expectText(page, '.when', (text) => text.startsWith('Recorded'));
    await page.show('Fleet');
    await expectText(page, '.fleet-row', (text) => text.startsWith('weather') && text.includes('failed'));
  });

  it('lists entries, highlights rejections, and shows what an entry changed', async () => {
    const page = await recorded();
    await page.show('Events');
    await expectText(page, '.events .toolbar-note', (text) => /^\d+ entries$/.test(text));
    await page.page.locator('.chip.kind-rejection').click();
    await expectText(page, '.events .toolbar-note', (text) => text.startsWith('1 of '));
    await expectText(page, '.event-row.kind-rejection', (text) =>
      text.includes('retry is not possible while ready'),
    );
    await page.page.locator('.event-row').click();
    await expectText(
      page,
      '.reading',
      (text) => text.includes('As recorded in the log') && text.includes('retry is not possible'),
    );
    await page.page.locator('.chip.kind-rejection').click();
    await page.page.type('input[type=search]', 'session.lost');
    await expectText(page, '.events .toolbar-note', (text) => text.startsWith('2 of '));
    await page.page.locator('.event-row').click();
    await expectText(page, '.diff tbody tr', (text) =>
      /state\s+"ready.*\s+"reconnecting: making sure/.test(text),
    );
    await page.click('Go to this moment');
    await expectText(page, '.when', (text) => text.startsWith('Past'));
    await page.click('Show in chart');
    await expectActive(page, 'connection.reconnecting.releasing');
    await page.show('Events');
    await page.click('Close the entry');
    await expect
      .poll(() => page.page.evaluate('document.activeElement.ariaLabel'))
      .toBe('Entries of the log');
  });

  it('draws who sent what to whom, and how long answers took', async () => {
    const page = await recorded();
    await page.select('files');
    await page.show('Sequence');
    await page.page.waitForSelector('.sequence-row');
    await page.page.evaluate('document.querySelector(".sequence .virtual-list").scrollTop = 0');
    await expectText(page, '.sequence-row', (text) =>
      text.includes('files · work to files: opening the transport: done'),
    );
    const rows = await page.texts('.sequence-row');
    expect(rows.some((row) => /files · server to files: initialize ↩ · \d+ ms/.test(row))).toBe(true);
    await page.page.locator('.sequence-row').click();
    await page.page.waitForSelector('.reading');
  });

  it('can be used with the keyboard alone', async () => {
    const page = await recorded();
    const { keyboard } = page.page;
    await keyboard.press('/');
    await keyboard.type('git');
    await expectText(page, '.toolbar-note', (text) => text === '1 of 6 connections');
    await page.page.focus('.virtual-list');
    await keyboard.press('ArrowDown');
    await expectText(page, '.side h2', (text) => text === 'git');
    await keyboard.press('2');
    await expectActive(page, 'connection.ready');
    await page.page.focus('#tab-chart');
    await keyboard.press('ArrowRight');
    await page.page.waitForSelector('#panel-timeline');
    await keyboard.press('4');
    await page.page.focus('.virtual-list');
    await keyboard.press('Home');
    await expectText(page, '.reading h2', (text) => text.startsWith('Entry 1'));
    await keyboard.press('PageDown');
    await expectText(page, '.reading h2', (text) => !text.startsWith('Entry 1 '));
    await keyboard.press(',');
    await expectText(page, '.when', (text) => text.startsWith('Past'));
    await keyboard.press('l');
    await expectText(page, '.when', (text) => text.startsWith('Recorded'));
  });

  it('names an entry even before its text is loaded', async () => {
    const page = await recorded();
    await page.page.evaluate(`
      globalThis.nameless = [];
      new MutationObserver(() => {
        const isNameless = ({ textContent, ariaLabel }) => textContent === '' && ariaLabel === null;
        nameless.push(...[...document.querySelectorAll('[role=option]')].filter(isNameless).map(({ id }) => id));
      }).observe(document.body, { childList: true, subtree: true });`);
    await page.show('Events');
    await expectText(page, '.event-row', (text) => text !== '');
    expect(await page.page.evaluate('nameless')).toEqual([]);
  });

  it('announces the item that keys have reached in every list', async () => {
    const page = await recorded();
    const { keyboard } = page.page;
    /** What a screen reader announces for the current item: its position, whether it is selected, and its text. */
    const at = async (list: string): Promise<string> =>
      (await page.page.evaluate(`(() => {
        const box = document.querySelector(${JSON.stringify(list)});
        const item = document.getElementById(box.getAttribute('aria-activedescendant'));
        if (item === null || box.role !== 'listbox' || item.role !== 'option') return '';
        return [item.ariaPosInSet, item.ariaSetSize, item.ariaSelected, item.innerText.replaceAll(/\\s+/g, ' ')].join(' ');
      })()`)) as string;
    await page.page.focus('.fleet .virtual-list');
    await keyboard.press('ArrowDown');
    await expect.poll(() => at('.virtual-list')).toMatch(/^1 6 true files/);
    await keyboard.press('End');
    await expect.poll(() => at('.virtual-list')).toMatch(/^6 6 true calendar/);
    expect(await page.page.$$('.virtual-list :is(button, [tabindex])')).toEqual([]);
    await keyboard.press('Enter');
    await expectActive(page, 'connection.stopped');
    expect(await page.page.evaluate('document.activeElement.id')).toBe('panel-chart');
    await page.show('Events');
    await page.page.focus('.virtual-list');
    // The list is at its end.
    await keyboard.press('ArrowUp');
    await expect.poll(() => at('.virtual-list')).toMatch(/^(\d+) \1 true \d\d:/);
    for (const [key, start] of [
      ['Home', '1 '],
      ['ArrowDown', '2 '],
      ['PageDown', ''],
    ] as const) {
      await keyboard.press(key);
      await expect.poll(() => at('.virtual-list')).toMatch(new RegExp(`^${start}.*true \\d\\d:`));
    }
    await page.show('Sequence');
    await page.page.waitForSelector('.sequence .virtual-list');
    await page.page.focus('.virtual-list');
    await keyboard.press('Home');
    const total = Number((await at('.virtual-list')).split(' ')[1]);
    expect(total).toBeGreaterThan(10);
    // Several messages can belong to one entry.
    for (let index = 2; index <= 10; index += 1) {
      await keyboard.press('ArrowDown');
      await expect.poll(() => at('.virtual-list')).toMatch(new RegExp(`^${index} ${total} true .* to .*: `));
    }
    await keyboard.press('Enter');
    await page.page.waitForSelector('.reading-body');
    await page.show('Timeline');
    await page.page.focus('.timeline-canvas');
    await keyboard.press('ArrowUp');
    await expectText(page, '.timeline [role=status]', (text) => text === 'memory, ready');
  });

  it('handles every press of its buttons, however fast they come', async () => {
    const page = await recorded();
    const press = async (name: string, times: number): Promise<void> =>
      void (await page.page.evaluate(`{
        const button = document.querySelector('button[aria-label="${name}"]');
        for (let press = 0; press < ${times}; press += 1) button.click();
      }`));
    const length = Number(/entry (\d+)/.exec(await page.text('.scrubber-time'))?.[1]);
    await press('One entry back', 30);
    await expectText(page, '.scrubber-time', (text) => text.includes(`entry ${length - 30} of ${length}`));
    await press('One entry forward', 12);
    await expectText(page, '.scrubber-time', (text) => text.includes(`entry ${length - 18} of ${length}`));
  });

  it('handles its keys at controls that do not use them, and no keys of the browser', async () => {
    const page = await recorded();
    const { keyboard } = page.page;
    await page.scrubTo(0.5);
    await expectText(page, '.when', (text) => text.startsWith('Past'));
    await page.page.focus('.scrubber input');
    const entry = async (): Promise<number> =>
      Number(/entry (\d+)/.exec(await page.text('.scrubber-time'))?.[1]);
    const before = await entry();
    await keyboard.press(',');
    await expect.poll(entry).toBe(before - 1);
    await keyboard.press('l');
    await expectText(page, '.when', (text) => text.startsWith('Recorded'));
    await page.show('Events');
    await page.page.focus('.events input[type=checkbox]');
    await keyboard.press('3');
    await page.page.waitForSelector('#panel-timeline');
    const isTaken = (selector: string, key: string, modifier: string): Promise<unknown> =>
      page.page.evaluate(
        `!document.querySelector('${selector}').dispatchEvent(
          new KeyboardEvent('keydown', { key: '${key}', ${modifier}: true, bubbles: true, cancelable: true }),
        )`,
      );
    const window = await page.text('.timeline .toolbar-note');
    for (const [key, modifier] of [
      ['-', 'ctrlKey'],
      ['+', 'metaKey'],
      ['0', 'ctrlKey'],
      ['ArrowLeft', 'altKey'],
    ] as const) {
      expect(await isTaken('.timeline-canvas', key, modifier), key).toBe(false);
      await page.show('Chart');
      expect(await isTaken('.chart-canvas', key, modifier), key).toBe(false);
      await page.show('Timeline');
    }
    expect(await page.text('.timeline .toolbar-note')).toBe(window);
  });

  it('shows the day of every moment if the log has several days', async () => {
    const path = join(folder, 'night.jsonl');
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    // The same log, four thousand times slower.
    const start = Date.UTC(2026, 4, 12, 8, 30);
    const later = (_: string, at: string): string => `"at":${start + (Number(at) - start) * 4_000},`;
    writeFileSync(path, `${lines.map((line) => line.replace(/"at":(\d+),/, later)).join('\n')}\n`);
    const page = await recorded();
    expect(await page.text('.when')).toMatch(/^Recorded\s+May 12, 2026 · \d+ s$/);
    expect(await page.text('.scrubber-time')).toMatch(/^\d\d:/);
    await page.give(path);
    await expectText(page, '.when', (text) => /^Recorded\s+May 12, 2026 · \d+ h/.test(text));
    const moment = /^May 1[23] \d\d:\d\d:\d\d\.\d{3}/;
    await expectText(page, '.scrubber-time', (text) => moment.test(text));
    await expectText(page, '.fleet-next', (text) => /^at May 1[23] \d\d:\d\d:\d\d$/.test(text));
    const isCut = (selector: string): Promise<unknown> =>
      page.page.evaluate(
        `[...document.querySelectorAll('${selector}')].some((each) => each.scrollWidth > each.clientWidth)`,
      );
    expect(await isCut('.fleet-next')).toBe(false);
    await page.page.locator('.fleet-row ::-p-text(search)').click();
    await expectText(page, '.facts dd', (text) => moment.test(text));
    await page.show('Events');
    await expectText(page, '.event-time', (text) => moment.test(text));
    expect((await page.texts('.event-row .event-time')).every((text) => moment.test(text))).toBe(true);
    expect(await isCut('.event-time')).toBe(false);
    await page.show('Sequence');
    await expectText(page, '.sequence-row .sr-only', (text) => moment.test(text));
    await page.show('Timeline');
    await expectText(page, '.timeline .toolbar-note', (text) => /^May 12 .* – May 13 /.test(text));
    await expectText(page, '#lane-story li', (text) => / from May 1[23] /.test(text));
    await page.page.setViewport({ width: 390, height: 844 });
    await page.show('Events');
    await expectText(page, '.event-time', (text) => /^May 1[23] \d\d:\d\d:\d\d$/.test(text));
    expect(await page.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  });

  it.each(['light', 'dark'] as const)(
    'has no serious axe violations in any view, %s',
    async (theme) => {
      const page = await recorded({ theme });
      await page.select('search');
      for (const view of VIEWS) {
        await page.show(view);
        if (view === 'Chart') await expectActive(page, 'connection.reconnecting');
        if (view === 'Events') {
          await page.page.focus('.events .virtual-list');
          await page.page.keyboard.press('End');
          await page.page.waitForSelector('.reading-body');
        }
        await expectAccessible(page, `${view}, ${theme}`);
      }
      await page.scrubTo(0.5);
      await expectText(page, '.when', (text) => text.startsWith('Past'));
      await expectAccessible(page, `past, ${theme}`);
    },
    60_000,
  );

  it('moves by keys across a time without events, and back', async () => {
    const page = await recorded();
    const { keyboard } = page.page;
    const position = async (): Promise<number> =>
      Number(/entry ([\d,]+)/.exec(await page.text('.scrubber-time'))?.[1]?.replace(',', ''));
    for (const [view, control] of [
      ['Fleet', '.scrubber input'],
      ['Timeline', '.timeline-canvas'],
    ] as const) {
      await page.show(view);
      await page.scrubTo(0);
      await expectText(page, '.when', (text) => text.startsWith('Past'));
      await page.page.focus(control);
      let at = await position();
      const start = at;
      for (let step = 0; step < 12; step += 1) {
        await keyboard.press('ArrowRight');
        await expect.poll(position).toBeGreaterThan(at);
        at = await position();
      }
      for (let step = 0; step < 12 && at > start; step += 1) {
        await keyboard.press('ArrowLeft');
        await expect.poll(position).toBeLessThan(at);
        at = await position();
      }
    }
  });

  it('leaves room for the list at 4x zoom, and for names beside states', async () => {
    const page = await recorded({ width: 320, height: 256 });
    const measure = async (selector: string, of: string): Promise<number> =>
      (await page.page.evaluate(
        `document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().${of}`,
      )) as number;
    for (const [view, list] of [
      ['Fleet', '.fleet .virtual-list'],
      ['Timeline', '.timeline-scroll'],
      ['Events', '.events .virtual-list'],
    ] as const) {
      await page.show(view);
      await expect.poll(() => measure(list, 'height')).toBeGreaterThan(150);
      const bottom = async (): Promise<number> => {
        await page.page.evaluate(`document.querySelector('${list}').scrollIntoView({ block: 'end' })`);
        return measure(list, 'bottom');
      };
      await expect.poll(bottom).toBeLessThanOrEqual(257);
    }
    await page.show('Fleet');
    await page.page.evaluate(
      `document.querySelector('.fleet-name strong').textContent = 'a-name-that-is-as-long-as-names-may-be'`,
    );
    expect(await measure('.fleet-name', 'right')).toBeLessThanOrEqual(
      await measure('.fleet-row .state-badge', 'left'),
    );
  });

  it('scrolls by the wheel over the chart if the page itself scrolls, and zooms the chart with Ctrl', async () => {
    const page = await recorded({ width: 320, height: 256 });
    await page.show('Chart');
    await expectActive(page, 'manager.phase.running');
    await page.rest();
    const look = async (): Promise<unknown> =>
      page.page.evaluate('[scrollY, document.querySelector(".camera").style.transform]');
    await page.page.evaluate(`document.querySelector('.chart-canvas').scrollIntoView({ block: 'center' })`);
    const [top, camera] = (await look()) as [number, string];
    await page.page.mouse.move(160, 128);
    expect(
      await page.page.evaluate(`document.elementFromPoint(160, 128).closest('.chart-canvas') !== null`),
    ).toBe(true);
    await page.page.mouse.wheel({ deltaY: 120 });
    await expect.poll(look).toEqual([expect.toSatisfy((now: number) => now > top), camera]);
    const before = await look();
    await page.page.keyboard.down('Control');
    await page.page.mouse.wheel({ deltaY: -60 });
    await page.page.keyboard.up('Control');
    await expect.poll(look).toEqual([(before as [number])[0], expect.not.stringMatching(camera)]);
  });

  it('shows the selection with forced colors', async () => {
    const page = await recorded();
    const session = await page.page.createCDPSession();
    await session.send('Emulation.setEmulatedMedia', {
      features: [{ name: 'forced-colors', value: 'active' }],
    });
    await page.select('search');
    const outlined = async (selector: string): Promise<readonly unknown[]> =>
      (await page.page.evaluate(
        `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => getComputedStyle(each).outlineStyle)`,
      )) as readonly unknown[];
    expect((await outlined('.fleet-row')).filter((style) => style === 'solid')).toHaveLength(1);
    await page.show('Timeline');
    await page.page.evaluate('document.activeElement.blur()');
    expect((await outlined('.tab')).filter((style) => style === 'solid')).toHaveLength(1);
    expect((await outlined('.lane-name')).filter((style) => style === 'solid')).toHaveLength(1);
  });

  it('has a header of one line at 2x zoom', async () => {
    const page = await recorded({ width: 640, height: 400 });
    const heights = `[...document.querySelectorAll('.header button')].map((each) => each.clientHeight)`;
    expect(Math.max(...((await page.page.evaluate(heights)) as number[]))).toBeLessThan(32);
    expect(await page.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  });

  it('fits a phone: nothing is wider than the screen, and the details are a view of their own', async () => {
    const page = await recorded({ width: 390, height: 844 });
    await page.page.locator('.fleet-row ::-p-text(search)').click();
    for (const view of [...VIEWS, 'Details']) {
      await page.show(view);
      const wider = await page.page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect([view, wider]).toEqual([view, 0]);
    }
    expect(await page.text('#panel-details')).toContain('spawn-failed');
    await expectAccessible(page, 'phone');
  });

  it('selects nothing when a finger scrolls over the timeline', async () => {
    const page = await recorded({ width: 390, height: 844 });
    await page.page.setViewport({ width: 390, height: 844, hasTouch: true });
    await page.show('Timeline');
    await page.page.waitForSelector('.lane-name');
    const { touchscreen } = page.page;
    const whole = await page.text('.timeline .toolbar-note');
    const { x = 0, y = 0, width = 0 } = (await (await page.page.$('.timeline-canvas'))?.boundingBox()) ?? {};
    const scrolling = await touchscreen.touchStart(x + width * 0.3, y + 200);
    for (let way = 10; way <= 120; way += 10) await scrolling.move(x + width * 0.3, y + 200 - way);
    await scrolling.end();
    await touchscreen.tap(x + width * 0.7, y + 40);
    await expectText(page, '.when', (text) => text.startsWith('Past'));
    expect(await page.text('.timeline .toolbar-note')).toBe(whole);
  });

  it('looks as in the picture of the guide', async () => {
    const picture = PICTURES.find(({ name }) => GUIDE_PICTURE.endsWith(`/${name}.png`));
    if (picture === undefined) throw new Error(`Nothing takes ${GUIDE_PICTURE}.`);
    expect(readFileSync(new URL('docs/guide/inspecting.md', ROOT), 'utf8')).toContain(
      GUIDE_PICTURE.replace('docs', '..'),
    );
    const page = await recorded(picture.look);
    const taken = await takePicture(page, picture);
    const shown = readFileSync(new URL(GUIDE_PICTURE, ROOT));
    expect(await differenceOf(page, taken, shown)).toBeLessThan(0.05);
  });

  it('lays a chart out once, and draws it from its storage after a reload', async () => {
    const page = await recorded({ isAlone: true, hasLayouts: false });
    await page.show('Chart');
    await expectActive(page, 'manager.phase.running');
    await page.page.select('.choice select', 'search');
    await expectActive(page, 'connection.reconnecting');
    expect(layoutWorkers(page)).toHaveLength(1);
    await page.page.reload({ waitUntil: 'load' });
    await expectText(page, '.when', (text) => text.startsWith('Recorded'));
    await page.show('Chart');
    await page.page.select('.choice select', 'search');
    await expectActive(page, 'connection.reconnecting');
    expect(layoutWorkers(page)).toEqual([]);
  });

  it('reports a chart that it cannot draw, and only that one', async () => {
    const page = await recorded({
      isAlone: true,
      hasLayouts: false,
      // The chart of a connection is loaded first.
      before: `let isFirst = true;
        window.Worker = class extends Worker {
          constructor(url, options) {
            if (isFirst && String(url).includes('elk')) {
              isFirst = false;
              throw new Error('No worker now.');
            }
            super(url, options);
          }
        };`,
    });
    await page.show('Chart');
    await expectActive(page, 'manager.phase.running');
    await page.page.select('.choice select', 'search');
    await expectText(page, '.chart-canvas .nothing', (text) => text.includes('No worker now.'));
    await page.page.select('.choice select', '');
    await expectActive(page, 'manager.phase.running');
    expect(await page.texts('.chart-canvas .nothing')).toEqual([]);
  });

  it('works without browser storage', async () => {
    const page = await recorded({
      before: `Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('No.', 'SecurityError'); } })`,
    });
    await page.show('Chart');
    await expectActive(page, 'manager.phase.running');
    await page.click('Colors: same as the system');
    await page.click('Colors: light');
  });

  it('does not animate for users who prefer reduced motion', async () => {
    const page = await recorded({ reducedMotion: true });
    await page.select('search');
    await page.show('Chart');
    await expectActive(page, 'connection.reconnecting');
    expect(
      await page.page.evaluate('getComputedStyle(document.querySelector(".chart-flow")).animationName'),
    ).toBe('none');
    expect(await page.page.evaluate('document.getAnimations().length')).toBe(0);
  });

  it('changes its colors on request, and remembers them', async () => {
    const page = await recorded({ theme: 'light', isAlone: true });
    const color = async (): Promise<unknown> =>
      page.page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await color();
    await page.click('Colors: same as the system');
    expect(await color()).toBe(light);
    await page.click('Colors: light');
    const dark = await color();
    expect(dark).not.toBe(light);
    await page.page.reload({ waitUntil: 'load' });
    expect(await color()).toBe(dark);
  });
});

describe('the page without a log', () => {
  const empty = async (): Promise<Visualizer> => {
    const page = await visualizer.open(new URL('/', server.url).href);
    await expectText(page, 'h2', (text) => text === 'See what your connections do');
    return page;
  };

  async function give(page: Visualizer, name: string, text: string): Promise<void> {
    const path = join(folder, name);
    writeFileSync(path, text);
    await page.give(path);
  }

  it('explains its purpose, and opens a log', async () => {
    const page = await empty();
    await expectAccessible(page, 'empty');
    await page.give(file);
    await expectText(page, '.fleet-row', (text) => text.includes('calendar'));
    expect(await page.text('.source')).toBe('morning.jsonl');
  });

  it('shows a log with values of an unexpected shape without these values', async () => {
    const lines = fleetOf(3, file).split('\n');
    const odd = lines.map((line) => {
      if (!line.includes('"to":"$/server-1#1"')) return line;
      const { context, ...entry } = JSON.parse(line) as { readonly context: { readonly server: object } };
      return JSON.stringify({
        ...entry,
        context: { ...context, server: { ...context.server, info: { x: {} } } },
      });
    });
    expect(odd).not.toEqual(lines);
    const page = await empty();
    await give(page, 'odd.jsonl', odd.join('\n'));
    await expectText(page, '.toolbar-note', (text) => text === '3 connections');
    await page.page.locator('.fleet-row ::-p-text(server-1)').click();
    await expectText(page, '.side h2', (text) => text === 'server-1');
    await expectAccessible(page, 'odd');
    await page.select('server-2');
    expect((await page.texts('.fleet-row')).length).toBe(3);
  });

  it('lists a thousand connections, draws only the visible ones, finds one and moves through all', async () => {
    const page = await empty();
    await give(page, 'thousand.jsonl', fleetOf(1_000, file));
    await expectText(page, '.toolbar-note', (text) => text === '1,000 connections');
    const drawn = await page.texts('.fleet-row');
    expect(drawn.length).toBeGreaterThan(8);
    expect(drawn.length).toBeLessThan(40);
    await page.page.focus('.virtual-list');
    await page.page.keyboard.press('End');
    await expectText(page, '.side h2', (text) => text === 'server-999');
    await expectText(page, '.fleet-row', (text) => text.startsWith('server-999'));
    expect((await page.texts('.fleet-row')).length).toBeLessThan(40);
    await page.show('Timeline');
    expect((await page.texts('.lane-name')).length).toBeLessThan(60);
    const isInSight = async (lane: string): Promise<unknown> =>
      page.page.evaluate(`(() => {
        const [name, box] = ['${lane}', '.timeline-scroll'].map((each) => document.querySelector(each)?.getBoundingClientRect());
        return name !== undefined && name.top >= box.top && name.bottom <= box.bottom + 1;
      })()`);
    // The selected lane is in sight.
    await expect.poll(() => isInSight('.lane-name[aria-pressed=true]')).toBe(true);
    await page.page.evaluate(`document.querySelector('.timeline-scroll').scrollTop = 0`);
    await expectText(page, '.lane-name', (text) => text === 'server-0');
    await page.page.evaluate(`document.querySelector('.lane-name').click()`);
    await page.page.focus('.timeline-canvas');
    for (let lane = 1; lane < 40; lane += 1) await page.page.keyboard.press('ArrowDown');
    await expectText(page, '.side h2', (text) => text === 'server-39');
    await expect.poll(() => isInSight('.lane-name[aria-pressed=true]')).toBe(true);
    await page.page.keyboard.down('Shift');
    await page.page.keyboard.press('Tab');
    await page.page.keyboard.up('Shift');
    expect(await page.page.evaluate('document.activeElement.className')).not.toContain('lane-name');
    expect(await page.page.evaluate(`document.querySelector('.timeline-names').scrollTop`)).toBe(0);
    await page.show('Fleet');
    await page.page.type('input[type=search]', 'server-777');
    await expectText(page, '.toolbar-note', (text) => text === '1 of 1,000 connections');
    await page.select('server-777');
    await expectText(page, '.side .state-badge', (text) => text.startsWith('ready'));
    await expectAccessible(page, 'thousand');
  });

  it(
    'reaches the last of a million entries, by scrolling and by keys',
    { timeout: 2 * LOADING_MS },
    async () => {
      const page = await empty();
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
      // A recorder writes them regularly, so that every moment is near one.
      const snapshots = lines.filter((line) => line.includes('"kind":"snapshot"'));
      for (let seq = lines.length; seq <= 1_000_000 - snapshots.length; seq += 1)
        lines.push(`{"seq":${seq},"at":2e12,"kind":"note","note":{"type":"diagnostic"},"check":"0"}`);
      for (const line of snapshots)
        lines.push(line.replace(/"seq":\d+,"at":\d+/, () => `"seq":${lines.length},"at":2000000000000`));
      await give(page, 'million.jsonl', `${lines.join('\n')}\n`);
      await expectText(page, '.scrubber-time', (text) => text.includes('entry 1,000,000'), LOADING_MS);
      await page.show('Events');
      const inSight = async (seq: number): Promise<boolean> =>
        (await page.page.evaluate(`(() => {
        const list = document.querySelector('.events .virtual-list').getBoundingClientRect();
        const row = document.querySelector('.event-row[data-seq="${seq}"]')?.getBoundingClientRect();
        return row !== undefined && row.top >= list.top - 3 && row.bottom <= list.bottom + 3;
      })()`)) as boolean;
      await expect.poll(async () => inSight(1_000_000)).toBe(true);
      await page.page.evaluate(`document.querySelector('.events .virtual-list').scrollTop = 0`);
      await expect.poll(async () => inSight(1)).toBe(true);
      await page.page.focus('.events .virtual-list');
      await page.page.keyboard.press('End');
      await expect.poll(async () => inSight(1_000_000)).toBe(true);
      await page.page.keyboard.press('ArrowUp');
      await expectText(page, '.reading h2', (text) => text.startsWith('Entry 999,999'));
      await expect.poll(async () => inSight(999_999)).toBe(true);
    },
  );

  it('reports the faulty place of a log, and a log of another version', async () => {
    const page = await empty();
    const lines = readFileSync(file, 'utf8').split('\n');
    await give(page, 'broken.jsonl', [...lines.slice(0, 30), '{"seq":', ...lines.slice(30)].join('\n'));
    await expectText(page, '.banner', (text) => text.includes('Line 31 is not JSON.'));
    await expectText(page, '.fleet-row', (text) => text.startsWith('files'));
    await expectAccessible(page, 'broken');
    await give(page, 'gap.jsonl', lines.toSpliced(30, 5).join('\n'));
    await expectText(page, '.banner', (text) => text.startsWith('5 entries are missing in this log.'));
    await give(page, 'header.jsonl', `${lines[0]}\n`);
    await expectText(page, '.nothing', (text) => text !== '');
    const ofVersion = (version: number) =>
      lines.join('\n').replace('"troupeLog":2', `"troupeLog":${version}`);
    await give(page, 'newer.jsonl', ofVersion(7));
    await expectText(page, '.banner', (text) => text.includes('newer version'));
    await give(page, 'older.jsonl', ofVersion(1));
    await expectText(page, '.banner', (text) => text.includes('older version'));
    await give(page, 'none.jsonl', 'This is not a log.\n');
    await expectText(page, '.banner', (text) => text === NO_LOG);
    await give(page, 'empty.jsonl', '');
    await expectText(page, '.banner', (text) => text.includes('the log is empty'));
  });

  it('reports that an address has the key of another run', async () => {
    const page = await visualizer.open(new URL('/#another', server.url).href);
    await expectText(page, 'h2', (text) => text === 'This address is no longer valid');
    await expectAccessible(page, 'refused');
    page.complaints.splice(0, 1);
  });
});
