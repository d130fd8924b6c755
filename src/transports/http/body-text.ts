/** Reads the body of an HTTP message: its coding, and its text. */
import { Readable, pipeline, type Duplex } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import type { Clock } from '../../ports.js';
import { TransportError } from '../../failures/transport-error.js';
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

// Reads a body as text, wholly or from its start. A byte order mark is omitted.

/** The body has more bytes than the limit. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

/** Rejects with `BodyTooLarge`, or with the error that cut the body. */
export async function readText(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  onChunk: () => void,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    onChunk();
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new BodyTooLarge();
    chunks.push(chunk);
  }
  return textOf(chunks);
}

/** Chunks of white space that may precede JSON. */
const MAX_BLANK_CHUNKS = 16;

/** Whether the first character of a body can start a JSON message, and the same body, still complete. */
export async function beginsAsJson(
  body: AsyncIterable<Uint8Array>,
): Promise<{ readonly isJson: boolean; readonly body: AsyncIterable<Uint8Array> }> {
  const stream = toReadable(body);
  const seen: Uint8Array[] = [];
  let start = '';
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    seen.push(chunk);
    start = textOf(seen).trimStart().charAt(0);
    if (start !== '' || seen.length > MAX_BLANK_CHUNKS) break;
  }
  if (start !== '') stream.unshift(Buffer.concat(seen));
  return { isJson: start === '{' || start === '[', body: stream as AsyncIterable<Uint8Array> };
}

export interface BodyStart {
  readonly text: string;
  /** The text is the whole body. */
  readonly isWhole: boolean;
}

/** The part of a body that arrives within both limits; the rest is not read. Rejects only if the request was aborted. */
export async function readStart(
  body: AsyncIterable<Uint8Array>,
  limits: { readonly maxBytes: number; readonly maxMs: number; readonly clock: Clock },
): Promise<BodyStart> {
  const stream = toReadable(body);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let isWhole = true;
  const timer = limits.clock.setTimeout(() => {
    isWhole = false;
    stream.destroy();
  }, limits.maxMs);
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      isWhole = bytes <= limits.maxBytes;
      if (!isWhole) break;
    }
  } catch (error) {
    if (isAbort(error)) throw error;
    isWhole = false;
  } finally {
    limits.clock.clearTimeout(timer);
  }
  return { text: textOf(chunks), isWhole };
}

/** A stream can be ended during the wait for its next chunk; an iterator cannot. */
function toReadable(body: AsyncIterable<Uint8Array>): Readable {
  if (body instanceof Readable) return body;
  return body instanceof ReadableStream ? Readable.fromWeb(body) : Readable.from(body);
}

/** Whether a body was ended by the signal of its request: with the signal's reason, or with the default `AbortError`. */
function isAbort(error: unknown): boolean {
  return error instanceof TransportError || (error instanceof Error && error.name === 'AbortError');
}

function textOf(chunks: readonly Uint8Array[]): string {
  return new TextDecoder().decode(Buffer.concat(chunks));
}

// Decodes a body in the codings that servers and proxies use, requested or not (RFC 9110 section 8.4.1). Each chunk is
// passed on as soon as it can be decoded, since an event stream pauses between its events.

const FLUSH = { flush: constants.Z_SYNC_FLUSH };

/** The decoder for a coding, chosen by the first byte of the body. */
const DECODERS: Readonly<Record<string, (firstByte: number) => Duplex>> = {
  gzip: () => createGunzip(FLUSH),
  'x-gzip': () => createGunzip(FLUSH),
  br: () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH }),
  // Some servers leave out the header that the name calls for (RFC 1950).
  deflate: (firstByte) => ((firstByte & 0x0f) === 8 ? createInflate(FLUSH) : createInflateRaw(FLUSH)),
};

/** The decoded body. Undefined if it is not encoded, or its coding is unknown. */
export function decodedBody(body: Readable, contentEncoding = ''): AsyncIterable<Uint8Array> | undefined {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim());
  const applied = codings.filter((coding) => coding !== '' && coding !== 'identity' && coding !== 'none');
  if (applied.length === 0 || !applied.every((coding) => Object.hasOwn(DECODERS, coding))) return undefined;
  return applied.toReversed().reduce<AsyncIterable<Uint8Array>>(decode, body);
}

async function* decode(encoded: AsyncIterable<Uint8Array>, coding: string): AsyncGenerator<Uint8Array> {
  const chunks = encoded[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) return;
  const decoder = DECODERS[coding]?.(first.value[0] ?? 0);
  if (decoder === undefined) return;
  const all = async function* (): AsyncGenerator<Uint8Array> {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  // An error reaches the reader of the decoder.
  pipeline(all, decoder, () => {});
  try {
    yield* decoder as AsyncIterable<Uint8Array>;
  } finally {
    decoder.destroy();
    await chunks.return?.();
  }
}
