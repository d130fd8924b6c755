/** A report holds what explains an incident, and no secret. */
import fc from 'fast-check';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createReport } from '../../../../src/event-log/report/create-report.js';
import { mergeLogs } from '../../../../src/event-log/replay/merge-logs.js';
import { replayLog } from '../../../../src/event-log/replay/replay-log.js';
import { createTroupe } from '../../../../src/runtime/troupe.js';
import { MemoryLog } from '../../../support/memory-log.js';
import { fuzz } from '../../../support/fuzz.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { SAMPLE_ENTRIES, SAMPLE_HEADER } from '../../../support/sample-log.js';

useLeakCheck();

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-report-'));
  path = join(folder, 'log.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

const logOf = (run: string, host = 'ada-laptop'): string =>
  [{ ...SAMPLE_HEADER, run, host, pid: 7 }, ...SAMPLE_ENTRIES]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');

describe('a report', () => {
  it('holds the older recordings beside a log, without names of computers, and a killed one up to its last whole line.', async () => {
    writeFileSync(path, logOf('third').slice(0, -10));
    writeFileSync(`${path}.1`, logOf('second', 'other'));
    writeFileSync(`${path}.2`, 'broken');
    writeFileSync(`${path}.3`, logOf('first'));
    const { bytes, report, leftOut } = await createReport({ logs: path });
    const { runs } = await mergeLogs([bytes]);
    expect(runs.map(({ header, log }) => [header.run, header.host, log.last, log.problem])).toEqual([
      ['third', 'host-1', 5, undefined],
      ['second', 'host-2', 6, undefined],
      ['first', 'host-1', 6, undefined],
    ]);
    expect(report.logs.map(({ name, isTruncated }) => [name, isTruncated])).toEqual([
      ['log.jsonl', true],
      ['log.jsonl.1', false],
      ['log.jsonl.3', false],
    ]);
    expect(leftOut.map(({ name }) => name)).toEqual(['log.jsonl.2']);
    expect(gunzipSync(bytes).toString()).not.toContain('laptop');
    const kept = await createReport({ logs: path, hostNames: true });
    expect(gunzipSync(kept.bytes).toString()).toContain('ada-laptop');
    const small = await createReport({ logs: path, maxBytes: 1 });
    expect([small.report.logs.length, small.leftOut.length]).toEqual([1, 3]);
  });

  it('refuses a log that was given and cannot be read, and says why.', async () => {
    writeFileSync(path, `${logOf('one')}{"seq":99}\n`);
    await expect(createReport({ logs: path })).rejects.toThrow(/'log\.jsonl' cannot be packed: Line 8/);
    await expect(createReport({ logs: `${path}.no` })).rejects.toThrow('ENOENT');
    await expect(createReport({ logs: 'x', host: true } as never)).rejects.toThrow(TypeError);
  });

  it('replays as before, although the name of the computer is gone.', async () => {
    const target = new MemoryLog();
    const troupe = createTroupe({ servers: {}, record: target });
    await troupe.start();
    await troupe.close();
    const { bytes } = await createReport({ logs: target.text });
    const { runs } = await mergeLogs([bytes]);
    expect([runs[0]?.header.host, runs[0]?.header.pid]).toEqual(['host-1', process.pid]);
    expect(await replayLog(bytes)).toMatchObject({ divergenceCount: 0, problem: undefined, isEnded: true });
  });

  it('holds no secret of entries, and none by name, wherever it is.', async () => {
    const secret = fc.stringMatching(/^[a-z]{4}[0-9]{4}[a-zA-Z0-9_-]{12}$/);
    await fuzz(
      40,
      fc.asyncProperty(secret, async (value) => {
        const { bytes } = await createReport({
          logs: logOf('one'),
          servers: {
            a: { command: 'node', args: ['--token', value], env: { API_KEY: value } },
            b: { url: `https://example.com/mcp?key=${value}`, headers: { Authorization: `Bearer ${value}` } },
            odd: null as never,
          },
          about: { settings: { password: value, text: `it said ${value}`, home: join(homedir(), 'x') } },
          versions: { editor: `1.0 ${value}` },
        });
        const text = gunzipSync(bytes).toString();
        expect(text).not.toContain(value);
        expect(text).not.toContain(homedir());
        expect(text).toContain('API_KEY');
      }),
    );
  });
});
