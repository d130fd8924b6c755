/** Search, links and calls on the page: what is found, what an address opens, and how a call is followed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FileSource } from '../../src/inspector/file-source.js';
import { openInspectionServer, type InspectionServer } from '../../src/inspector/inspection-server.js';
import { systemClock } from '../../src/ports.js';
import { callLog } from '../support/call-log.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';
import { bookOf } from '../support/sample-book.js';
import { expectAccessible, useVisualizer } from './use-visualizer.js';
import { expectText, type Visualizer } from './visualizer-page.js';

useLeakCheck();
useCrashWatch();
vi.setConfig({ testTimeout: 60_000 });

let folder: string;
let log: string;
let server: InspectionServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-links-'));
  log = await callLog(true);
  writeFileSync(join(folder, 'calls.jsonl'), log);
  const source = new FileSource([{ label: '', parts: [Buffer.from(log)] }], 'calls.jsonl', systemClock);
  server = await openInspectionServer({ source, clock: systemClock, port: 0 });
}, 60_000);

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const visualizer = useVisualizer();

async function opened(fragment = ''): Promise<Visualizer> {
  const page = await visualizer.open(`${server.url}${fragment === '' ? '' : `&${fragment}`}`);
  await expectText(page, '.when', (text) => /^(Recorded|Past)/.test(text));
  return page;
}

/** The fragment of the address, once it has that part. */
async function fragment({ page }: Visualizer, part: string): Promise<string> {
  await page.waitForFunction(`location.hash.includes(${JSON.stringify(part)})`);
  return new URL(page.url()).hash.slice(1);
}

async function search({ page }: Visualizer, text: string): Promise<void> {
  await page.evaluate(`{
    const input = document.querySelector('input[type=search]');
    input.value = ${JSON.stringify(text)};
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }`);
}

/** A log that starts with that many connections: each third one has failed, the others are ready. */
function fleetOf(count: number): string {
  const book = bookOf(log);
  const folded = book.stateOf(book.length - 1, '$/search#1');
  const machines = [
    { to: '$', ...book.stateOf(0, '$') },
    ...Array.from({ length: count }, (_, index) => {
      const context = { ...folded?.context, name: `server-${index}` };
      const state = index % 3 === 0 ? { failed: { exhausted: 'resting' } } : folded?.state;
      return { to: `$/server-${index}#1`, ...folded, state, context };
    }),
  ];
  const at = 1_700_000_000_000;
  const entries: object[] = machines.map((machine, index) => ({
    ...{ seq: index + 1, at, kind: 'snapshot', ...machine, left: count - index, check: '0' },
  }));
  for (let call = 1; call <= count; call += 1)
    entries.push({
      ...{ seq: entries.length + 1, at: at + call, kind: 'note', check: '0' },
      note: { type: 'call.started', server: `server-${call - 1}`, generation: 1, call, tool: 'work' },
    });
  return `${[log.slice(0, log.indexOf('\n')), ...entries.map((entry) => JSON.stringify(entry))].join('\n')}\n`;
}

describe('the page', () => {
  it('finds what rows show and fields by name, corrects them, and opens an entry with its connection', async () => {
    const page = await opened();
    await page.show('Events');
    const note = async (fits: RegExp): Promise<void> =>
      expectText(page, '.events .toolbar-note', (text) => fits.test(text));
    await search(page, 'answered after');
    await note(/^2 of \d+ entries$/);
    await search(page, 'conection:search code:connection-lost');
    await expectText(page, '.search-hints', (text) => text.includes('There is no field conection.'));
    await page.click('connection:');
    await note(/^1 of /);
    await page.page.locator('.event-row').click();
    await expectText(page, '.side h2', (text) => text === 'search');
    await expectText(page, '.reading h2', (text) => text.includes('session lost'));
    await page.page.keyboard.press('Escape');
    await page.page.waitForSelector('.reading', { hidden: true });
    await search(page, 'connection:fil');
    await page.click('files');
    await note(/^\d+ of /);
    await search(page, 'disk');
    await expectText(page, '.nothing h2', (text) => text === 'No matches');
    await expectAccessible(page, 'nothing found');
    await page.click('Search the JSON');
    await note(/^1 of /);
    // Its content is text.
    await page.page.locator('.event-row').click();
    await expectText(page, '.payload pre', (text) => text === 'The disk is full.');
    await expectText(page, '.side h2', (text) => text === 'files');
  });

  it('opens a link with the same sight, goes back and forward, and takes a broken link gently', async () => {
    const page = await opened();
    await page.select('search');
    await page.show('Events');
    await search(page, 'kind:failure');
    await page.page.locator('.event-row').click();
    await page.click('Go to this moment');
    await expectText(page, '.when', (text) => text.startsWith('Past'));
    const link = await fragment(page, 'at=');
    expect(link).toMatch(/^view=events&connection=search&at=[^&]+~\d+&entry=[^&]+&search=kind:failure$/);
    const entry = await page.text('.reading h2');
    const moment = await page.text('.scrubber-time');
    const other = await opened(link);
    await expectText(other, '.reading h2', (text) => text === entry);
    expect(await other.text('.scrubber-time')).toBe(moment);
    expect(await other.text('.side h2')).toBe('search');
    expect(new URL(other.page.url()).hash.slice(1)).toBe(link);
    await other.show('Timeline');
    await fragment(other, 'view=timeline');
    await other.page.goBack();
    await expectText(other, '.reading h2', (text) => text === entry);
    await other.page.goForward();
    await other.page.waitForSelector('#panel-timeline');
    await fragment(other, 'view=timeline');
    await other.page.evaluate(`location.hash = 'view=calls&group=failed&entry=999999&colour=red'`);
    await expectText(other, '.calls .toolbar-note', (text) => text === '1 call');
    await expectText(other, '.banner', (text) => text.includes('does not contain the entry'));
    await other.click('Close');
    await other.page.evaluate(`location.hash = 'view=nowhere&connection=nobody'`);
    await expectText(other, '.banner', (text) => text.includes('view=nowhere'));
    await expectText(other, '.fleet-row', (text) => text.startsWith('files'));
    await expectText(other, '.side', (text) => text.includes('Not present'));
    await expectAccessible(other, 'broken link');
  });

  it('never writes its key into the address, and says if a link needs it', async () => {
    const page = await opened('view=timeline');
    const key = new URL(server.url).hash.slice(1);
    expect(key.length).toBeGreaterThan(20);
    expect(page.page.url()).not.toContain(key);
    await page.page.reload({ waitUntil: 'load' });
    await page.page.waitForSelector('#panel-timeline');
    await page.show('Calls');
    expect(await fragment(page, 'view=calls')).not.toContain(key);
    const stranger = await visualizer.open(new URL('/#view=calls&call=3', server.url).href, {
      isAlone: true,
    });
    await expectText(stranger, '.banner', (text) => text.includes('does not contain its key'));
    // A log that is opened then is shown as the link says.
    await stranger.give(join(folder, 'calls.jsonl'));
    await expectText(stranger, '.reading h2', (text) => text.startsWith('find'));
  });

  it('keeps what was chosen and sorted in the fleet over tabs, in the timeline and in the sequence', async () => {
    const page = await visualizer.open(new URL('/', server.url).href, { isAlone: true });
    const file = join(folder, 'thousand.jsonl');
    writeFileSync(file, fleetOf(1_000));
    await page.give(file);
    await expectText(page, '.toolbar-note', (text) => text === '1,000 connections');
    await page.page.select('.fleet select', 'trouble');
    await page.page.locator('.chips ::-p-text(failed)').click();
    await search(page, 'connection:server-9*');
    await expectText(page, '.toolbar-note', (text) => text === '39 of 1,000 connections');
    await page.show('Timeline');
    await expectText(page, '.lane-name', (text) => text === 'server-9');
    expect(await page.text('.timeline .toolbar-note')).toBe('39 of 1,000 connections');
    await page.page.evaluate(`document.querySelector('.lane-name').click()`);
    await expectText(page, '#lane-story li', (text) => text.startsWith('call at') && text.endsWith(': work'));
    await page.show('Sequence');
    await page.page.locator('.sequence input[type=checkbox]').click();
    await expectText(page, '.toolbar-note', (text) => /39 connections.*no room for/.test(text));
    const width = `document.querySelector('.sequence-sheet').offsetWidth - document.querySelector('.sequence-scroll').clientWidth`;
    expect(await page.page.evaluate(width)).toBe(0);
    await page.show('Fleet');
    expect(await page.page.$eval('input[type=search]', ({ value }) => value)).toBe('connection:server-9*');
    expect(await fragment(page, 'order=trouble')).toContain('states=failed');
    await expectAccessible(page, 'chosen');
  });

  it('follows a call over its loss to its outcome, through every view, and shows its content', async () => {
    const page = await opened('view=calls&calls-order=first');
    await expectText(page, '.calls .toolbar-note', (text) => text === '4 calls');
    expect((await page.texts('.call-row')).map((text) => text.split('\n').slice(1, 4).join(' '))).toEqual([
      'files read answered',
      'files write tool-error',
      'search find answered · 2 attempts',
      'files wait no end',
    ]);
    await page.page.locator('.chips ::-p-text(failed)').click();
    await expectText(page, '.calls .toolbar-note', (text) => text === '1 call');
    await page.page.locator('.chips ::-p-text(all)').click();
    await page.page.locator('.call-row ::-p-text(find)').click();
    await expectText(page, '.call-steps li.bad-words', (text) => text.includes('connection-lost'));
    expect((await page.texts('.call-steps li')).at(-1)).toMatch(/^\+55 ms\s+ended\s+answered\s+attempt 2$/);
    expect(await page.texts('.payload pre')).toEqual([
      expect.stringContaining('lost and found'),
      expect.any(String),
    ]);
    await expectText(page, '.side h2', (text) => text === 'search');
    await expectAccessible(page, 'calls');
    await page.click('In the timeline');
    await expectText(page, '.timeline .mono', (text) => /· 8\d ms$/.test(text));
    const marked = (await page.page.evaluate(`{
      const canvas = document.querySelector('.timeline-overlay');
      canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0);
    }`)) as boolean;
    expect(marked).toBe(true);
    await page.show('Calls');
    await page.click('In the sequence');
    await expectText(page, '.sequence-row.of-call', (text) => text.includes('outcome-unknown'));
    await page.show('Calls');
    await page.click('Its entries');
    await expectText(page, '.events .toolbar-note', (text) => text.startsWith('7 of '));
    expect(await page.page.$$('.event-row.of-call')).toHaveLength(7);
    await page.show('Calls');
    await page.page.locator('.call-row ::-p-text(read)').click();
    await expectText(page, '.payload button', (text) => text.startsWith('Show all '));
    await page.page.locator('.payload button').click();
    await expectText(page, '.payload button', (text) => text === 'Show less');
    await page.page.keyboard.press('Escape');
    await page.page.waitForSelector('.reading', { hidden: true });
  });
});
