/** The past of a running troupe as a page gets it: from memory, and from the file of a recording. */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filter, firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordedUntil } from '../../../src/event-log/record/recorded-file.js';
import type { TroupeOptions } from '../../../src/options.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { ScriptedServer, tool } from '../../support/scripted-server.js';
import { LogBook } from '../../../visualizer/src/log/log-book.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { PageClient, type WatchedStream } from '../../support/page-client.js';

useLeakCheck();
useCrashWatch();

const MIB = 1_024 * 1_024;

let folder: string;
let files: ScriptedServer;
let troupe: Troupe;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-history-'));
  files = new ScriptedServer({ tools: [tool('read')] });
});

afterEach(async () => {
  await troupe.close();
  rmSync(folder, { recursive: true });
});

function make(options: TroupeOptions = {}): Troupe {
  troupe = createTroupe({ servers: { files: { type: 'in-process', server: files } }, ...options });
  return troupe;
}

/** The server dies and comes back. */
async function recover(): Promise<void> {
  const back = firstValueFrom(troupe.events$.pipe(filter(({ type }) => type === 'connection.ready')));
  await files.die();
  await back;
}

function bookOf({ log }: WatchedStream): LogBook {
  const book = new LogBook();
  book.append(new TextEncoder().encode(log));
  return book;
}

/** Types of the events in the log, in their order. */
function typesIn(book: LogBook): readonly string[] {
  return Array.from({ length: book.length }, (_, position) => book.labelOf(position)?.type ?? '');
}

describe('the past of a running troupe', () => {
  it('begins before the start, for a page that opens after a crash and its recovery.', async () => {
    const { url } = await make().inspect();
    await troupe.start();
    await recover();
    const page = await new PageClient(url).watch();
    await page.until(({ log }) => log.includes('"session.lost"'));
    const types = typesIn(bookOf(page));
    expect(types).toContain('manager.start');
    expect(types.indexOf('session.lost')).toBeGreaterThan(types.indexOf('manager.start'));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is read from the recording if nothing was kept, without a gap and without a problem.', async () => {
    make({ record: { target: join(folder, 'log.jsonl'), maxBytes: 4_000 } });
    await troupe.start();
    await recover();
    await recover();
    const { url } = await troupe.inspect({ history: 0 });
    const page = await new PageClient(url).watch();
    await page.until(({ log }) => log.split('"troupeLog"').length > 2);
    await troupe.callTool('mcp__files__read');
    await page.until(({ log }) => log.includes('"call.finished"'));
    const book = bookOf(page);
    expect(book).toMatchObject({ problem: undefined, missed: 0, before: 0 });
    const types = typesIn(book);
    expect(types).toContain('manager.start');
    expect(types.filter((type) => type === 'session.lost')).toHaveLength(2);
    // The recorder of the page adds what the file does not have.
    expect(types).toContain('wire');
    expect(readdirSync(folder).length).toBeGreaterThan(1);
    // The same after the page has exported it.
    const exported = new LogBook();
    for (const piece of book.pieces()) exported.append(piece);
    expect(exported).toMatchObject({ problem: undefined, missed: 0, length: book.length });
  });

  it('does not contain the recording of an earlier run at the same path.', async () => {
    const target = join(folder, 'log.jsonl');
    await make({ record: target }).start();
    await recover();
    await troupe.close();
    files = new ScriptedServer({ tools: [tool('read')] });
    await make({ record: target }).start();
    // The new file is written once the old one has its new name.
    const hasBegun = (): boolean =>
      existsSync(`${target}.1`) && (statSync(target, { throwIfNoEntry: false })?.size ?? 0) > 0;
    await expect.poll(hasBegun, { interval: 5 }).toBe(true);
    const { url } = await troupe.inspect({ history: 0 });
    const page = await new PageClient(url).watch();
    await page.until(({ log }) => log.split('"troupeLog"').length > 2);
    expect(typesIn(bookOf(page))).toContain('manager.start');
    expect(page.log).not.toContain('"session.lost"');
  });

  it('is only what happens from now on if the file of the recording has been removed.', async () => {
    await make({ record: join(folder, 'log.jsonl') }).start();
    rmSync(join(folder, 'log.jsonl'));
    const { url } = await troupe.inspect({ history: 0 });
    const page = await new PageClient(url).watch();
    await page.until(({ log }) => log !== '');
    expect(typesIn(bookOf(page))).not.toContain('manager.start');
  });

  it('is refused with a size that is none.', async () => {
    make();
    for (const history of [-1, 1, 1.5, NaN, '64 MB'])
      await expect(troupe.inspect({ history: history as number })).rejects.toThrow(/'history'/);
    await (await troupe.inspect({ history: MIB })).close();
  });
});

describe('a recorded file', () => {
  it('is read up to the moment, and without a line that is still being written.', async () => {
    make();
    const path = join(folder, 'log.jsonl');
    const header = JSON.stringify({ troupeLog: 2, seed: 7, startedAt: 10 });
    const entries = [11, 12, 12, 13].map((at, index) => `{"seq":${index + 1},"at":${at},"kind":"note"}`);
    writeFileSync(path, `${[header, ...entries].join('\n')}\n{"seq":5,"at":1`);
    const read = async (until: number): Promise<number> => {
      let text = '';
      for await (const lines of recordedUntil({ path, seed: 7, startedAt: 10 }, until, MIB)) text += lines;
      return text.split('\n').length - 1;
    };
    expect(await read(9)).toBe(1);
    expect(await read(12)).toBe(4);
    expect(await read(99)).toBe(5);
  });
});
