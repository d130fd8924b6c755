/** Log books for tests, and logs of any length to fill them. */
import { LogBook } from '../../visualizer/src/log/log-book.js';

export const toBytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

export function bookOf(text: string): LogBook {
  const book = new LogBook();
  book.append(toBytes(text));
  book.end();
  return book;
}

/** A log of `length` entries that starts with the snapshot of a real log and repeats its causes. */
export function longLog(text: string, length: number): Uint8Array<ArrayBuffer> {
  const [header = '', ...lines] = text.trimEnd().split('\n');
  const bodies = lines.map((line) => line.replace(/^\{"seq":\d+,"at":\d+,/, ''));
  const pieces = [header];
  for (let index = 0; index < length; index += 1)
    pieces.push(
      `{"seq":${index + 1},"at":${1_700_000_000_000 + index * 10},${bodies[index % bodies.length] ?? ''}`,
    );
  return toBytes(`${pieces.join('\n')}\n`);
}
