/** The forms in which a log is given to its readers. Runs in a browser, if no path is given. */

import { isPacked, together, unpacked } from './unpack.js';

/**
 * A log, or one part of it:
 *
 * - a string: its path, or its text, which begins with `{`;
 * - a `URL`: a file, or an address from which it is downloaded;
 * - its bytes;
 * - a stream, or another iterable, of bytes or texts in chunks of any size.
 *
 * Bytes may be packed with gzip (RFC 1952), as in a report.
 */
export type LogSource = string | URL | Uint8Array | AsyncIterable<Uint8Array | string>;

const NO_SOURCE = 'A log is given as its path, a URL, its text, its bytes or a stream of them';

/** Throws a `TypeError` for a value that is none of the forms. */
export function requireSource(value: unknown): asserts value is LogSource {
  if (typeof value === 'string' && value !== '') return;
  if (value instanceof URL || value instanceof Uint8Array) return;
  if (typeof value === 'object' && value !== null && Symbol.asyncIterator in value) return;
  throw new TypeError(`${NO_SOURCE}; found ${shown(value)}.`);
}

/** A list of sources, or a single one. Throws a `TypeError` as `requireSource`, and for an empty list. */
export function sourcesOf(value: LogSource | readonly LogSource[]): readonly LogSource[] {
  const sources = Array.isArray(value) ? (value as readonly LogSource[]) : [value as LogSource];
  if (sources.length === 0) throw new TypeError(`${NO_SOURCE}; found an empty list.`);
  for (const source of sources) requireSource(source);
  return sources;
}

/** The path of a source that can be followed. Throws a `TypeError` for any other. */
export function requireFile(source: LogSource): string {
  if (typeof source === 'string' && !isLogText(source)) return source;
  if (source instanceof URL && source.protocol === 'file:') return pathOf(source);
  throw new TypeError('Only a file can be followed: give its path.');
}

/** As `fileURLToPath`, which a browser does not have. */
function pathOf({ host, pathname }: URL): string {
  const path = decodeURIComponent(pathname);
  if (host !== '') return `//${host}${path}`;
  return /^\/[a-z]:\//i.test(path) ? path.slice(1) : path;
}

/** Whether a string is the text of a log, not its path. */
export function isLogText(text: string): boolean {
  return /^\ufeff?\s*\{/.test(text);
}

/** The bytes of a source, unpacked, in chunks. Throws what the file, the download or the stream throws. */
export async function* chunksOf(source: LogSource): AsyncGenerator<Uint8Array, void, undefined> {
  if (source instanceof Uint8Array && !isPacked(source)) yield source;
  else if (typeof source === 'string' && isLogText(source)) yield new TextEncoder().encode(source);
  else yield* unpacked(rawChunksOf(source));
}

async function* rawChunksOf(source: LogSource): AsyncGenerator<Uint8Array, void, undefined> {
  if (source instanceof Uint8Array) yield source;
  else yield* chunksOfStream(await streamOf(source));
}

async function* chunksOfStream(stream: AsyncIterable<unknown>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of stream) {
    if (typeof chunk === 'string') yield new TextEncoder().encode(chunk);
    else if (chunk instanceof Uint8Array) yield chunk;
    else throw new TypeError(`a stream of a log has bytes or texts; found ${shown(chunk)}`);
  }
}

/** All bytes of a source, unpacked. */
export async function bytesOf(source: LogSource): Promise<Uint8Array> {
  return source instanceof Uint8Array && !isPacked(source) ? source : together(chunksOf(source));
}

async function streamOf(source: Exclude<LogSource, Uint8Array>): Promise<AsyncIterable<unknown>> {
  if (typeof source !== 'string' && !(source instanceof URL)) return source;
  if (source instanceof URL && source.protocol !== 'file:') return download(source);
  const { createReadStream } = await import('node:fs');
  return createReadStream(source);
}

async function download(url: URL): Promise<AsyncIterable<unknown>> {
  const { ok, status, body } = await fetch(url);
  if (ok && body !== null) return body;
  await body?.cancel();
  throw new Error(`${url.host} answered with HTTP ${status}`);
}

function shown(value: unknown): string {
  if (value === null || typeof value === 'undefined') return String(value);
  return value === '' ? 'an empty text' : `a value of type ${typeof value}`;
}
