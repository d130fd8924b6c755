/** The tools of the page: it compares moments and runs, copies tests, and simulates. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FileSource } from '../../src/inspector/file-source.js';
import { openInspectionServer, type InspectionServer } from '../../src/inspector/inspection-server.js';
import { systemClock } from '../../src/ports.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';
import { expectAccessible, useVisualizer } from './use-visualizer.js';
import { expectText, type Visualizer } from './visualizer-page.js';

useLeakCheck();
useCrashWatch();
// On a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const LOG = fileURLToPath(new URL('../property/replay/corpus/dies-in-a-call.jsonl', import.meta.url));
const OTHER = fileURLToPath(
  new URL('../property/replay/corpus/exit-after-initialize.jsonl', import.meta.url),
);

/** Keys that lead from the end of the log to the last moment before its loss. */
const BEFORE_THE_LOSS = ((): readonly string[] => {
  const lines = readFileSync(LOG, 'utf8').trimEnd().split('\n');
  return lines.slice(lines.findIndex((line) => line.includes('"type":"session.lost"'))).map(() => ',');
})();

let folder: string;
let server: InspectionServer;
/** The same log, recorded with another chart. */
let foreign: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-tools-'));
  foreign = join(folder, 'foreign.jsonl');
  writeFileSync(foreign, readFileSync(LOG, 'utf8').replace(/"connection":"[0-9a-f]+"/, '"connection":"0"'));
  const source = new FileSource([{ label: '', parts: [LOG] }], 'incident.jsonl', systemClock);
  server = await openInspectionServer({ source, clock: systemClock, port: 0 });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const visualizer = useVisualizer();

async function recorded(before?: string): Promise<Visualizer> {
  const page = await visualizer.open(server.url, { isAlone: true, ...(before !== undefined && { before }) });
  await expectText(page, '.fleet-row', (text) => text.includes('files'));
  return page;
}

async function press({ page }: Visualizer, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key as 'a');
}

describe('the tools of the page', () => {
  it('compare two moments, with keys alone, and lead to the entries.', async () => {
    const page = await recorded();
    await page.show('Compare');
    await expectText(page, '.compared h2', (text) => text === 'files');
    await expectText(page, '[aria-label="Moment B"]', (text) => text.includes('shown'));
    await press(page, ...BEFORE_THE_LOSS, 'a', '.', '.', 'b');
    await expectText(page, '[aria-label="Moment B"]', (text) => !text.includes('shown'));
    await expectText(page, '.compared[data-name=files] .diff', (text) => text.includes('session lost'));
    await expectText(page, '.compared[data-name=files] .compared-states', (text) =>
      /ready.* → reconnecting/.test(text),
    );
    expect(await page.texts('.compared[data-name=files] .diff th[title=failure]')).toEqual(['last failure']);
    await expectAccessible(page, 'moments');
    await page.click('Swap');
    await expectText(page, '.compared[data-name=files] .compared-states', (text) =>
      /reconnecting.* → ready/.test(text),
    );
    await page.page.locator('.compared[data-name=files] td .link').click();
    await expectText(page, '.reading h2', (text) => text.startsWith('Entry'));
  });

  it('compare two runs: of another log, which is dropped or opened.', async () => {
    const page = await recorded();
    await page.show('Compare');
    await page.click('Two runs');
    await expectText(page, '.tool-scroll h2', (text) => text === 'Choose two runs');
    const input = await page.page.$('.other-log');
    await (input as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(OTHER);
    await expectText(page, '.run-difference', (text) => text.startsWith('First difference'));
    await expectText(page, '.toolbar-note', (text) => text === '1 of 1 connections differ');
    await expectAccessible(page, 'runs');
    await page.page.select('.tool-drop .choice:nth-of-type(1) select', '0');
    await (input as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(LOG);
    await expectText(page, '.tool-scroll h2', (text) => text === 'No difference');
    await (input as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(
      fileURLToPath(import.meta.url),
    );
    await expectText(page, '.tool-drop [role=alert]', (text) => text.includes('Line 1'));
    expect(await page.text('.source')).toBe('incident.jsonl');
  });

  it('copy a test, with the keyboard; it is shown if the browser does not copy.', async () => {
    const page = await recorded(`Object.defineProperty(navigator, 'clipboard', {
      value: { writeText: async (text) => { if (globalThis.isDenied) throw new Error('no'); globalThis.copied = text; } },
    })`);
    await page.show('Events');
    await page.page.focus('.events .virtual-list');
    await press(page, 'Home', 'End', 'ArrowUp');
    await page.page.waitForSelector('.reading-body');
    // The entry may still be loading, and is copied only once it is shown.
    const copied = async (): Promise<string> => {
      await press(page, 't');
      return page.text('.copied');
    };
    await expect.poll(copied).toMatch(/^The test is copied\./);
    expect(await page.page.evaluate('globalThis.copied')).toContain("from 'mcp-troupe/testing'");
    await page.page.evaluate('globalThis.isDenied = true');
    await page.click('Copy as test');
    await page.page.waitForSelector('.copied textarea');
    await page.page.waitForFunction('document.activeElement.selectionEnd > 500');
    await expectAccessible(page, 'not copied');
    await press(page, 'Escape');
  });

  it('simulate a copy, with keys alone: choose, undo, reset.', async () => {
    const page = await recorded();
    await page.select('files');
    await press(page, ...BEFORE_THE_LOSS);
    await page.show('Simulate');
    await page.click('Simulate from the shown moment');
    await expectText(page, '.simulated-head', (text) => text.includes('Nothing is sent to the server'));
    await expectText(page, '.simulated-head .state-badge', (text) => text.includes('ready'));
    await page.page.evaluate(`[...document.querySelectorAll('.simulated-choice')]
      .find((each) => each.innerText.startsWith('session lost')).focus()`);
    await press(page, 'Enter');
    await expectText(
      page,
      '.simulated-steps > li',
      (text) => text.includes('last failure') && text.includes('would start'),
    );
    await expectAccessible(page, 'simulated');
    const moment = await page.text('.scrubber-time small');
    await press(page, 'u');
    await expect.poll(() => page.texts('.simulated-steps > li')).toEqual([]);
    await expectText(page, '.simulated-head .state-badge', (text) => text.includes('ready'));
    await page.page.locator('.simulated-choice').click();
    await page.page.waitForSelector('.simulated-steps > li');
    await press(page, 'r');
    await expect.poll(() => page.texts('.simulated-steps > li')).toEqual([]);
    expect(await page.text('.scrubber-time small')).toBe(moment);
    await page.click('End');
    await expectText(page, '.nothing h2', (text) => text === 'Nothing is simulated');
  });

  it('simulate the bare chart of a log of another version.', async () => {
    const page = await recorded();
    await page.give(foreign);
    await expectText(page, '.banner', (text) => text.startsWith('Recorded with other charts.'));
    await page.select('files');
    await press(page, ...BEFORE_THE_LOSS);
    await page.show('Simulate');
    await page.click('Simulate from the shown moment');
    await expectText(page, '.simulated-head', (text) => text.includes('another chart'));
    await page.page.locator('.simulated-choice').click();
    await page.page.waitForSelector('.simulated-steps > li');
  });
});
