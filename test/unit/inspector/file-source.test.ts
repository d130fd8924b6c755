/** A log file that is sent to a page. */
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileSource } from '../../../src/inspector/file-source.js';
import type { InspectionMessage } from '../../../src/inspector/page-protocol.js';
import { systemClock } from '../../../src/ports.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { SAMPLE_HEADER } from '../../support/sample-log.js';

useLeakCheck();
useCrashWatch();

const within = (): { signal: AbortSignal } => ({ signal: AbortSignal.timeout(15_000) });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-file-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string | Buffer): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

function open(...files: readonly string[]): FileSource {
  return new FileSource([{ label: 'one', parts: files }], 'title', systemClock);
}

async function messagesOf(source: FileSource): Promise<InspectionMessage[]> {
  const page = new PassThrough();
  source.watch(page);
  const lines = (await text(page)).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as InspectionMessage);
}

const logOf = (messages: readonly InspectionMessage[]): string =>
  messages.map((message) => (message.kind === 'log' ? message.lines : '')).join('');

describe('a log file', () => {
  it('is sent in whole lines, whatever it contains, and its end is marked.', async () => {
    const lines = Array.from(
      { length: 60_000 },
      (_, index) => `{"seq":${index},"text":"äöü \u{1F3AD} </script>"}\n`,
    );
    const messages = await messagesOf(open(write('log', lines.join(''))));
    expect(messages[0]).toMatchObject({ kind: 'hello', mode: 'file', title: 'title' });
    expect(logOf(messages)).toBe(lines.join(''));
    const parts = messages.slice(1, -1);
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.every((part) => part.kind === 'log' && part.lines.endsWith('\n'))).toBe(true);
    expect(messages.at(-1)).toEqual({ kind: 'log', lines: '', isLast: true });
  });

  it('of several files is sent as one, even if an earlier part was cut off.', async () => {
    const source = open(write('log.2', 'a\nb'), write('log.1', 'c\n'), write('log', 'd\ne'));
    expect(logOf(await messagesOf(source))).toBe('a\nb\nc\nd\ne');
    expect(logOf(await messagesOf(open(write('empty', ''))))).toBe('');
    expect(await messagesOf(open())).toHaveLength(2);
  });

  it('with an overlong line is read no further, and that line is not buffered.', async () => {
    const long = Buffer.alloc(40 * 1_024 * 1_024, 'x');
    const messages = await messagesOf(open(write('log', Buffer.concat([Buffer.from('a\n'), long]))));
    const { length } = logOf(messages);
    expect(length).toBeGreaterThan(16 * 1_024 * 1_024);
    expect(length).toBeLessThan(20 * 1_024 * 1_024);
  });

  it('is read at the pace of the page, and no further once the page has closed.', async () => {
    const source = open(write('log', `${'x'.repeat(99)}\n`.repeat(200_000)));
    let taken = 0;
    let release = (): void => {};
    const page = new Writable({
      highWaterMark: 1,
      write: (chunk: Buffer, _, done) => {
        taken += chunk.length;
        release = done;
      },
    });
    page.on('error', () => {});
    source.watch(page);
    await expect.poll(() => taken).toBeGreaterThan(0);
    release();
    await expect.poll(() => taken).toBeGreaterThan(1_000_000);
    expect(taken + page.writableLength).toBeLessThan(5_000_000);
    const gone = once(page, 'close', within());
    page.destroy();
    await gone;
    await source.close('over');
  });

  it('that disappears ends only the stream.', async () => {
    const file = write('log', 'a\n');
    const source = open(file);
    rmSync(file);
    const page = new PassThrough();
    page.on('error', () => {});
    page.resume();
    const closed = once(page, 'close', within());
    source.watch(page);
    await closed.catch((error: unknown) => expect(error).toMatchObject({ code: 'ENOENT' }));
    expect(page.destroyed).toBe(true);
    await source.close('over');
  });

  it('sends an end message to a page that is still reading when the server closes.', async () => {
    const source = open(write('log', `${'x'.repeat(99)}\n`.repeat(200_000)));
    const page = new PassThrough();
    source.watch(page);
    await once(page, 'readable', within());
    const closing = source.close('over');
    const lines = (await text(page)).trimEnd().split('\n');
    await closing;
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ kind: 'end', why: 'over' });
    expect(lines.length).toBeLessThan(10);
  });
});

describe('log files that grow', () => {
  const header = (run: string, at: number): string =>
    `${JSON.stringify({ ...SAMPLE_HEADER, run, startedAt: at })}\n`;
  const line = (seq: number, at: number): string => `{"seq":${seq},"at":${at}}\n`;

  it('are one stream in order of time, and then what each of them gets, in whole lines.', async () => {
    const [a, b] = [
      write('a', header('a', 1) + line(1, 2) + line(2, 6)),
      write('b', header('b', 3) + line(1, 4)),
    ];
    const source = new FileSource(
      [
        { label: 'A', parts: [a] },
        { label: 'B', parts: [b] },
      ],
      'both',
      systemClock,
    );
    const decoder = new TextDecoder();
    let seen = '';
    for await (const bytes of source.log(new AbortController().signal)) {
      seen += decoder.decode(bytes);
      if (bytes.length > 0 && seen.endsWith('{"troupeSoFar":true}\n')) {
        appendFileSync(b, line(2, 7));
        appendFileSync(a, line(3, 8).slice(0, 5));
      }
      if (seen.endsWith(line(2, 7))) {
        renameSync(a, `${a}.1`);
        writeFileSync(a, header('c', 9));
      }
      if (seen.endsWith(header('c', 9))) break;
    }
    expect(
      seen.split('\n').map((text) => text.replace(/"startedAt".*|^\{"troupeLog":.*?"run":/, '')),
    ).toEqual([
      '{"troupeRun":"A"}',
      expect.stringContaining('"a"'),
      '{"seq":1,"at":2}',
      '{"troupeRun":"B"}',
      expect.stringContaining('"b"'),
      '{"seq":1,"at":4}',
      '{"troupeRun":"A"}',
      '{"seq":2,"at":6}',
      '{"troupeSoFar":true}',
      '{"troupeRun":"B"}',
      '{"seq":2,"at":7}',
      '{"troupeRun":"A"}',
      expect.stringContaining('"c"'),
      '',
    ]);
    await source.close('over');
  });

  it.each(['the source', 'the page'])('end with %s, although nothing more comes.', async (who) => {
    const source = open(write('a', header('a', 1)));
    const page = new AbortController();
    let text = '';
    for await (const bytes of source.log(page.signal)) {
      text += new TextDecoder().decode(bytes);
      if (!text.includes('troupeSoFar')) continue;
      if (who === 'the page') page.abort();
      else void source.close('over');
    }
    expect(text).toMatch(/troupeSoFar.*\n$/);
    await source.close('over');
  });
});
