/** A log as a path, a URL, a text, bytes or a stream: every reader finds the same. */
import { createReadStream, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LogSource } from '../../../../src/event-log/format/log-source.js';
import { readLog } from '../../../../src/event-log/format/read-log.js';
import { openLog } from '../../../../src/event-log/replay/open-log.js';
import { replayLog } from '../../../../src/event-log/replay/replay-log.js';
import { createRecordedServer } from '../../../../src/testing/recorded-server.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();
useCrashWatch();

const path = fileURLToPath(new URL('../../../property/replay/corpus/stdio-plain.jsonl', import.meta.url));
const bytes = readFileSync(path);
const text = bytes.toString();

const server = createServer((request, response) => {
  if (request.url === '/log') response.end(bytes);
  else response.writeHead(404).end();
});
let address: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { readonly port: number };
  address = `http://127.0.0.1:${port}`;
});
afterAll(
  () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    }),
);

async function* inTexts(): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += 1_000) yield text.slice(at, at + 1_000);
}

const SOURCES: Readonly<Record<string, () => LogSource>> = {
  'a path': () => path,
  'a file URL': () => pathToFileURL(path),
  'an address': () => new URL('/log', address),
  'its text': () => text,
  'its text after a byte order mark': () => `\ufeff${text}`,
  'its bytes': () => bytes,
  'a stream': () => createReadStream(path),
  'a stream of a browser': () => new Blob([bytes]).stream(),
  'texts in pieces': inTexts,
};

describe('a log', () => {
  const whole = text.trimEnd().split('\n').length;

  it.each(Object.entries(SOURCES))('can be %s.', async (_, source) => {
    let pieces = 0;
    for await (const { type } of readLog(source())) {
      expect(type).not.toBe('problem');
      pieces += 1;
    }
    expect(pieces).toBe(whole);
    const opened = await openLog(source());
    expect([opened.last - opened.first + 2, opened.problem]).toEqual([whole, undefined]);
    expect(await replayLog(source())).toMatchObject({ entries: whole - 1, problem: undefined });
  });

  it('can be read at once from a path, a file URL, a text or bytes.', () => {
    for (const source of [path, pathToFileURL(path), text, bytes])
      expect(createRecordedServer(source, 'files').sessions).toBe(1);
  });

  it.each([undefined, null, '', 7, {}, [], [undefined], ['x', 7]])('cannot be %o.', async (value) => {
    await expect(openLog(value as never)).rejects.toThrow(TypeError);
    await expect(replayLog(value as never)).rejects.toThrow(TypeError);
    if (!Array.isArray(value)) expect(() => readLog(value as never)).toThrow(TypeError);
  });

  it('that cannot be read is an error, or a problem in the report.', async () => {
    await expect(openLog(`${path}.no`)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(openLog(new URL('/no', address))).rejects.toThrow('404');
    for (const source of [
      `${path}.no`,
      new URL('/no', address),
      (async function* () {
        yield 7 as never;
      })(),
    ])
      expect((await replayLog(source)).problem).toMatchObject({ code: 'unreadable' });
  });
});
