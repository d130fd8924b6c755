import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { bodyOf, Chain, toLine } from '../../../src/event-log/format/chain.js';
import type { LogEntry, LogHeader } from '../../../src/event-log/format/entry.js';
import { replayLog, type ReplayReport } from '../../../src/event-log/replay/replay-log.js';
import { convertLog, ConversionError } from '../../../tools/log-conversion.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

const OLD = fileURLToPath(new URL('fixtures/version-1.jsonl', import.meta.url));
const old = readFileSync(OLD, 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'troupe-conversion-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

function given(text: string): { from: string; to: string } {
  files += 1;
  const [from, to] = [join(folder, `${files}-old.jsonl`), join(folder, `${files}-new.jsonl`)];
  writeFileSync(from, text);
  return { from, to };
}

async function converted(text: string): Promise<{ text: string; entries: number; kept: number }> {
  const { from, to } = given(text);
  const conversion = await convertLog(from, to);
  return { ...conversion, text: readFileSync(to, 'utf8') };
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

const replayed = (text: string): Promise<ReplayReport> => replayLog(bytesOf(text));

const notesIn = (text: string): Record<string, unknown>[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { note?: Record<string, unknown> })
    .flatMap(({ note }) => (note === undefined ? [] : [note]));

/** The log with another note after its snapshot, with the checksums of that version. */
function withNote(note: object): string {
  const [header = '', snapshot = ''] = old.split('\n');
  const chain = new Chain(JSON.parse(header) as LogHeader);
  chain.add(bodyOf(JSON.parse(snapshot) as LogEntry));
  const body = JSON.stringify({ seq: 2, at: 1_795_965_144_400, kind: 'note', note });
  chain.add(body);
  return `${header}\n${snapshot}\n${toLine(body, chain.check)}`;
}

describe('a log of version 1', () => {
  it('can be replayed without a divergence after the conversion, and its notes name their server.', async () => {
    const { text, entries, kept } = await converted(old);
    const report = await replayed(text);
    expect(report).toMatchObject({ problem: undefined, divergences: [], whyNoRerun: undefined, entries });
    expect(kept).toBe(0);
    const [before, after] = [notesIn(old), notesIn(text)];
    expect(after.map(({ server }) => server)).toEqual(before.map(({ connection }) => connection));
    expect(after.filter((note) => 'connection' in note)).toEqual([]);
  });

  it('keeps the order of the fields, and of equal names within a message.', async () => {
    const body = { params: { connection: 'mine' } };
    const { text } = await converted(withNote({ type: 'wire', connection: 'files', bytes: 7, body }));
    expect(JSON.stringify(notesIn(text))).toBe(
      JSON.stringify([{ type: 'wire', server: 'files', bytes: 7, body }]),
    );
    expect(await replayed(text)).toMatchObject({ problem: undefined, divergences: [] });
  });

  it('diverges after the conversion if it did before.', async () => {
    const lines = old.split('\n');
    const altered = lines.findIndex((line) => line.includes('"kind":"settle"'));
    const text = lines
      .with(altered, (lines[altered] ?? '').replace(/"at":\d+/, '"at":1795965144500'))
      .join('\n');
    const { text: after, kept } = await converted(text);
    const { divergences } = await replayed(after);
    expect(kept).toBe(1);
    expect(divergences.map(({ entry }) => entry)).toEqual([altered]);
  });

  it('may be cut off in its last line, and may lack its last line feed.', async () => {
    const cut = await converted(old.slice(0, -20));
    expect(await replayed(cut.text)).toMatchObject({ problem: { code: 'truncated' }, divergences: [] });
    const whole = await converted(old.trimEnd());
    expect(whole.text).toBe((await converted(old)).text);
  });

  it('may have been saved on Windows.', async () => {
    const { text } = await converted(`\ufeff${old.replaceAll('\n', '\r\n')}`);
    expect(text).toBe((await converted(old)).text);
  });
});

describe('an input that cannot be converted', async () => {
  const { text: done } = await converted(old);
  const lines = old.split('\n');

  it.each([
    ['a log of version 2', done, 'version 2'],
    ['a log of a later version', done.replace('"troupeLog":2', '"troupeLog":3'), 'version 3'],
    ['text', 'hello\n', 'header'],
    ['an empty file', '', 'empty'],
    ['a log with an invalid line', lines.with(4, 'hello').join('\n'), 'Line 5'],
    ['a log with a missing line', lines.toSpliced(4, 1).join('\n'), 'Line 5'],
    ['two logs in one file', old + old, 'another log'],
  ])('leaves no file behind, and the reason is reported: %s.', async (_, text, why) => {
    const { from, to } = given(text);
    await expect(convertLog(from, to)).rejects.toThrow(ConversionError);
    await expect(convertLog(from, to)).rejects.toThrow(why);
    expect(readdirSync(folder).filter((file) => file.startsWith(`${files}-new`))).toEqual([]);
  });

  it('is a log whose new name is taken.', async () => {
    const { from } = given(old);
    await expect(convertLog(from, from)).rejects.toThrow(ConversionError);
    expect(readFileSync(from, 'utf8')).toBe(old);
  });
});

describe('the tool in a shell', () => {
  const cwd = fileURLToPath(new URL('../../..', import.meta.url));
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['tools/convert-log.mjs', ...args], { cwd, encoding: 'utf8' });

  it('prints its usage.', () => {
    expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Usage: /), stderr: '' });
  });

  it.each([[[]], [[OLD]], [[OLD, 'b', 'c']], [['--colour', OLD, 'b']]])(
    'refuses wrong arguments: %j.',
    (args) => {
      const { status, stdout, stderr } = run(...args);
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toContain('Usage: ');
    },
  );

  it('converts, and reports in one line why it cannot.', () => {
    const { from, to } = given(old);
    expect(run(from, to)).toMatchObject({ status: 0, stderr: '' });
    const { status, stderr } = run(to, `${to}.again`);
    expect(status).toBe(1);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(existsSync(`${to}.again`)).toBe(false);
  });
});
