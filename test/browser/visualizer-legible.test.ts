/** The page can be read: sizes of texts, nothing cut off or covered, paper, fingers, keys, and raw names at a click. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FileSource } from '../../src/inspector/file-source.js';
import { openInspectionServer, type InspectionServer } from '../../src/inspector/inspection-server.js';
import { systemClock } from '../../src/ports.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';
import { expectAccessible, useVisualizer, type PageOptions } from './use-visualizer.js';
import { expectActive, expectText, type Visualizer } from './visualizer-page.js';
import { makeScene, playScene } from './visualizer-scene.js';

useLeakCheck();
useCrashWatch();
vi.setConfig({ testTimeout: 60_000 });

const DESKTOP: PageOptions = { width: 1280, height: 800, reducedMotion: true };
const PHONE: PageOptions = { width: 390, height: 844, reducedMotion: true };

let folder: string;
let server: InspectionServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-legible-'));
  const file = join(folder, 'morning.jsonl');
  const scene = makeScene();
  await playScene(scene);
  writeFileSync(file, scene.log());
  const closing = scene.troupe.close();
  await scene.clock.advance(10_000);
  await closing;
  const source = new FileSource([{ label: '', parts: [file] }], 'morning.jsonl', systemClock);
  server = await openInspectionServer({ source, clock: systemClock, port: 0 });
}, 60_000);

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const visualizer = useVisualizer();

async function recorded(options: PageOptions): Promise<Visualizer> {
  const page = await visualizer.open(server.url, options);
  await expectText(page, '.fleet-row', (text) => text.includes('calendar'));
  return page;
}

async function chartOf(page: Visualizer, connection: string, state: string): Promise<void> {
  await page.page.locator(`.fleet-row ::-p-text(${connection})`).click();
  await page.show('Chart');
  await expectActive(page, state);
  await page.rest();
}

interface ChartLook {
  /** The smallest size of a text in the visible part, in pixels of the screen; and of any text. */
  readonly smallest: number;
  readonly texts: number;
  /** Texts that leave their box, or lie on another text of the picture. */
  readonly outside: readonly string[];
  readonly overlapping: readonly string[];
}

/** What a person sees of the texts of a chart. Boxes of bold texts are those of the browser. */
async function chartLook({ page }: Visualizer): Promise<ChartLook> {
  return (await page.evaluate(`(() => {
    const zoom = document.querySelector('.chart-svg').getBoundingClientRect().width /
      document.querySelector('.chart-svg').viewBox.baseVal.width;
    const texts = [...document.querySelectorAll('.chart text')].map((each) => ({
      words: each.textContent,
      size: parseFloat(getComputedStyle(each).fontSize) * zoom,
      parts: [...each.querySelectorAll('tspan')].map((part) => parseFloat(getComputedStyle(part).fontSize) * zoom),
      box: each.getBBox(),
      frame: each.closest('.chart-state')?.querySelector('rect').getBBox() ??
        each.parentElement.querySelector(':scope > .chart-label')?.getBBox(),
    }));
    const right = ({ x, width }) => x + width;
    const overlaps = (a, b) => a !== b && a.box.x < right(b.box) - 1 && b.box.x < right(a.box) - 1 &&
      a.box.y < b.box.y + b.box.height - 4 && b.box.y < a.box.y + a.box.height - 4;
    return {
      texts: texts.length,
      smallest: Math.min(...texts.flatMap(({ size, parts }) => [size, ...parts])),
      outside: texts.filter(({ box, frame }) => frame !== undefined && right(box) > right(frame) - 2).map(({ words }) => words),
      overlapping: texts.filter((a) => texts.some((b) => overlaps(a, b))).map(({ words }) => words),
    };
  })()`)) as ChartLook;
}

/** Whether anything but the chart itself lies on the canvas. */
const COVERED = `(() => {
  const canvas = document.querySelector('.chart-canvas').getBoundingClientRect();
  const found = new Set();
  for (let x = canvas.left + 3; x < canvas.right; x += 24)
    for (let y = canvas.top + 3; y < canvas.bottom; y += 24) {
      const top = document.elementFromPoint(x, y);
      if (top.closest('.chart-canvas') === null) found.add(top.className);
    }
  return [...found];
})()`;

/** Controls that are smaller than a finger, with their sizes. Text within a line is exempt (WCAG 2.2, 2.5.5). */
const SMALL = `[...document.querySelectorAll('button, select, summary, input, label, a[href], [role=tab], [role=option]')]
  .filter((each) => each.checkVisibility() && each.closest('.sr-only, [tabindex="-1"]:not(.panel, .lane-name)') === null)
  .filter((each) => !(each.matches('input') && each.closest('label') !== null))
  .map((each) => [each.getBoundingClientRect(), each])
  .filter(([{ width, height }]) => width > 0 && (Math.round(height) < 44 || Math.round(width) < 44))
  .map(([{ width, height }, each]) => each.tagName + '.' + each.className + ' ' + width + '×' + height)`;

describe('the page', () => {
  it.each([
    ['a desktop', DESKTOP],
    ['a phone', PHONE],
  ])('shows texts of a chart that can be read on %s, followed and as a whole', async (_, look) => {
    const page = await recorded(look);
    await chartOf(page, 'search', 'connection.reconnecting.backingOff');
    const followed = await chartLook(page);
    expect(followed.smallest).toBeGreaterThanOrEqual(11);
    expect(followed.texts).toBeGreaterThan(100);
    expect(followed.outside).toEqual([]);
    expect(followed.overlapping).toEqual([]);
    expect(await page.page.evaluate(COVERED)).toEqual([]);
    await page.click('Fit');
    await page.rest();
    const whole = await chartLook(page);
    expect(whole.smallest).toBeGreaterThanOrEqual(9);
    expect(whole.texts).toBeGreaterThanOrEqual(4);
    expect(whole.overlapping).toEqual([]);
    expect(await page.page.evaluate(COVERED)).toEqual([]);
    // In between, too.
    for (let step = 0; step < 5; step += 1) await page.click('Zoom in');
    expect((await chartLook(page)).smallest).toBeGreaterThanOrEqual(9);
  });

  it('keeps the notes of states whole, and shows raw names at a click, also the next time', async () => {
    const page = await recorded({ ...DESKTOP, isAlone: true });
    await chartOf(page, 'git', 'connection.ready');
    for (const state of ['connection.ready.liveness.resting', 'connection.ready.retirement.retiring']) {
      const element = await page.page.waitForSelector(`[data-state="${state}"] > rect`);
      await element?.hover();
      await page.page.waitForSelector('.chart-tooltip');
      const note = `(() => {
        const { left, top, right, bottom, width, height } = document.querySelector('.chart-tooltip').getBoundingClientRect();
        const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.querySelector('.chart-tooltip');
        const isTop = document.elementFromPoint(left + 4, top + 4) !== null;
        return { isWhole: left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight && isTop,
          isCut: scrollWidth > clientWidth || scrollHeight > clientHeight, width, height };
      })()`;
      expect(await page.page.evaluate(note)).toMatchObject({ isWhole: true, isCut: false });
    }
    expect(await page.text('.side .state-badge')).toBe('ready');
    await page.click('Raw names');
    await expectText(page, '.side .state-badge', (text) => text === 'ready.resting+current');
    await expectActive(page, 'connection.ready');
    const title = `document.querySelector('[data-state="connection.ready.retirement"] > .chart-name')?.textContent`;
    await expect.poll(() => page.page.evaluate(title)).toBe('retirement');
    await page.page.reload({ waitUntil: 'load' });
    await page.show('Fleet');
    await expectText(page, '.fleet-row', (text) => text.includes('ready.resting+current'));
    await page.page.keyboard.press('n');
    await expectText(page, '.fleet-row', (text) => text.includes('failed, retrying on request'));
    // Everything that a log has is in words, and its name is where the pointer is.
    await page.show('Events');
    await page.page.waitForSelector('.event-row:not(.loading-row)');
    const types = (await page.page.evaluate(
      `[...document.querySelectorAll('.event-type')].map(({ innerText, title }) => innerText + '|' + title)`,
    )) as readonly string[];
    expect(types.length).toBeGreaterThan(5);
    expect(types.filter((type) => /[a-z]\.[a-z]|[a-z][A-Z].*\|/.test(type.split('|')[0] ?? ''))).toEqual([]);
    expect(types).toContain('call ended|call.finished');
    expect(await page.page.evaluate(`document.querySelector('.event-time').title`)).toMatch(
      /^May 12, 2026, 08:30:/,
    );
  });

  it('lists the keys at `?`, shows where the focus is, and has no epochs', async () => {
    const page = await recorded({ ...DESKTOP, theme: 'light' });
    await page.page.keyboard.press('?');
    await expectText(page, 'dialog[open]', (text) => text.includes('Page Down') && text.includes('Timeline'));
    await expectAccessible(page, 'keys');
    await page.page.keyboard.press('Escape');
    await page.page.waitForSelector('dialog', { hidden: true });
    await page.page.locator('.fleet-row ::-p-text(search)').click();
    await page.page.locator('.fold ::-p-text(All fields)').click();
    await page.page.waitForSelector('.fold .json-leaf');
    expect(await page.text('.side')).toMatch(/recent losses[^]*address at which it was ready last/);
    expect(await page.text('.side')).not.toMatch(/\b1[67]\d{11}\b/);
    await page.page.evaluate(`document.querySelector('.header button').focus()`);
    const ring = `(() => {
      const focused = document.activeElement;
      if (focused === document.body) return 'the end';
      const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(focused);
      if (focused.matches('.chart-state')) return '';
      const name = focused.tagName + '.' + focused.className + '#' + focused.id;
      if (outlineStyle === 'none' || parseFloat(outlineWidth) < 2) return name + ' has no ring';
      const out = Math.max(0, parseFloat(outlineOffset) + parseFloat(outlineWidth));
      const box = focused.getBoundingClientRect();
      for (let frame = focused.parentElement; frame !== null; frame = frame.parentElement) {
        if (!/auto|scroll|hidden|clip/.test(getComputedStyle(frame).overflowY)) continue;
        const edge = frame.getBoundingClientRect();
        if (box.left - out < edge.left - 0.5 || box.right + out > edge.right + 0.5 || box.top - out < edge.top - 0.5)
          return name + ' has a ring that is cut off';
      }
      return '';
    })()`;
    for (const view of ['Fleet', 'Timeline', 'Events']) {
      await page.show(view);
      await page.page.evaluate(`document.querySelector('.header button').focus()`);
      for (let stops = 0; stops < 40; stops += 1) {
        await page.page.keyboard.press('Tab');
        const found = await page.page.evaluate(ring);
        if (found === 'the end') break;
        expect(`${view}: ${String(found)}`).toBe(`${view}: `);
      }
    }
  });

  it('is large enough for fingers, in every view', async () => {
    const page = await recorded({ ...PHONE, isAlone: true });
    await page.page.setViewport({ width: 390, height: 844, hasTouch: true, isMobile: true });
    await page.page.reload({ waitUntil: 'load' });
    await expectText(page, '.fleet-row', (text) => text.includes('calendar'));
    expect(await page.page.evaluate(`matchMedia('(pointer: coarse)').matches`)).toBe(true);
    await page.page.locator('.fleet-row ::-p-text(search)').click();
    for (const view of ['Fleet', 'Chart', 'Timeline', 'Events', 'Sequence', 'Details']) {
      await page.show(view);
      await page.page.waitForSelector(
        `#panel-${view.toLowerCase()} :is(.virtual-item, .chart-svg, .lane-name, .facts)`,
      );
      const small = await page.page.evaluate(SMALL);
      expect({ view, small }).toEqual({ view, small: [] });
      expect(await page.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    }
  });

  it('prints the chart as a whole, the details, and the list, in light colors', async () => {
    const page = await recorded({ ...DESKTOP, theme: 'dark' });
    await chartOf(page, 'search', 'connection.reconnecting.backingOff');
    await page.page.emulateMediaType('print');
    await expect.poll(async () => (await chartLook(page)).texts).toBeLessThan(40);
    const cut = `(() => {
      const cut = [];
      for (const each of document.querySelectorAll('.chart-canvas, .details, .details-body, .side, .panel, .virtual-list')) {
        const { overflowY } = getComputedStyle(each);
        if (overflowY !== 'visible' && each.scrollHeight > each.clientHeight + 1) cut.push(each.className);
      }
      const canvas = document.querySelector('.chart-canvas')?.getBoundingClientRect();
      const svg = document.querySelector('.chart-svg')?.getBoundingClientRect();
      if (svg && (svg.top < canvas.top || svg.right > innerWidth || svg.bottom > canvas.bottom + 1)) cut.push('the chart');
      return cut;
    })()`;
    expect(await page.page.evaluate(cut)).toEqual([]);
    expect((await chartLook(page)).smallest).toBeGreaterThanOrEqual(9);
    expect(await page.page.evaluate('document.documentElement.dataset.theme')).toBe('light');
    expect(await page.page.evaluate(`document.querySelector('.tabs').checkVisibility()`)).toBe(false);
    await page.page.emulateMediaType('screen');
    await page.show('Fleet');
    await page.page.emulateMediaType('print');
    expect(await page.page.evaluate(cut)).toEqual([]);
    const rows = `(() => {
      const tops = [...document.querySelectorAll('.fleet-row')].map((row) => row.getBoundingClientRect());
      return tops.every(({ bottom }, index) => index + 1 === tops.length || bottom <= tops[index + 1].top + 1) && tops.length;
    })()`;
    expect(await page.page.evaluate(rows)).toBe(6);
  });
});
