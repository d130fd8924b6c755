/** Recordings on the page: one that grows, several on one timeline, and a report. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync, appendFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createReport } from '../../src/event-log/report/create-report.js';
import { FileSource } from '../../src/inspector/file-source.js';
import { openInspectionServer, type InspectionServer } from '../../src/inspector/inspection-server.js';
import { systemClock } from '../../src/ports.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';
import { expectAccessible, useVisualizer } from './use-visualizer.js';
import { expectText } from './visualizer-page.js';

useLeakCheck();
useCrashWatch();
vi.setConfig({ testTimeout: 60_000 });

const corpus = (name: string): string =>
  readFileSync(new URL(`../property/replay/corpus/${name}.jsonl`, import.meta.url), 'utf8');

let folder: string;
const servers: InspectionServer[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-recordings-'));
});
afterAll(async () => {
  for (const server of servers) await server.close();
  rmSync(folder, { recursive: true });
});

const visualizer = useVisualizer();

async function serve(...runs: ConstructorParameters<typeof FileSource>[0]): Promise<string> {
  const source = new FileSource(runs, 'recordings', systemClock);
  const server = await openInspectionServer({ source, clock: systemClock, port: 0 });
  servers.push(server);
  return server.url;
}

describe('the page', () => {
  it('follows a recording that grows, and shows what its server has come to.', async () => {
    const lines = corpus('dies-in-a-call').trimEnd().split('\n');
    const loss = lines.findIndex((line) => line.includes('"type":"session.lost"'));
    const path = join(folder, 'growing.jsonl');
    writeFileSync(path, `${lines.slice(0, loss).join('\n')}\n`);
    const page = await visualizer.open(await serve({ label: '', parts: [path] }));
    await expectText(page, '.when', (text) => text.startsWith('Following'));
    await expectText(page, '.fleet-row', (text) => /files[^]*ready/.test(text));
    appendFileSync(path, `${lines[loss]}\n${lines[loss + 1]?.slice(0, 20)}`);
    await expectText(page, '.fleet-row', (text) => /files[^]*reconnecting/.test(text));
    appendFileSync(path, `${lines[loss + 1]?.slice(20)}\n${lines.slice(loss + 2).join('\n')}\n`);
    await page.show('Events');
    await expectText(page, '.events .toolbar-note', (text) => text === `${lines.length - 1} entries`);
  });

  it('shows several recordings on one timeline, each with its own connections, and opens a report.', async () => {
    const [one, two] = [corpus('dies-in-a-call'), corpus('host-restarts')].map((text) => Buffer.from(text));
    const page = await visualizer.open(
      await serve({ label: 'a 1', parts: [one!] }, { label: 'b 2', parts: [two!] }),
    );
    await expectText(page, '.banner', (text) => text.includes('2 recordings on one timeline'));
    await expectText(page, '.fleet-name strong', (text) => text === 'files (b 2)');
    const rows = await page.texts('.fleet-name strong');
    expect(rows).toEqual(expect.arrayContaining(['files (a 1)', 'files (b 2)']));
    await expectAccessible(page, 'several recordings');
    const { bytes } = await createReport({
      logs: one!,
      servers: { files: { command: 'files', env: { TOKEN: 'hunter2-hunter2' } } },
      about: { note: 'It stopped at noon.' },
    });
    const path = join(folder, 'report.jsonl.gz');
    writeFileSync(path, bytes);
    await page.give(path);
    await expectText(page, '.banner summary', (text) => text.startsWith('A report of troupe'));
    await page.page.locator('.banner summary').click();
    await expectText(page, '.banner pre', (text) => text.includes('It stopped at noon.'));
    expect(await page.text('.banner pre')).not.toContain('hunter2');
    await expectText(page, '.fleet-name strong', (text) => text === 'files');
  });
});
