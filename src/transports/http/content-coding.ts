/**
 * Decodes a body in the codings that servers and proxies use, requested or not (RFC 9110 section 8.4.1). Each chunk is
 * passed on as soon as it can be decoded, since an event stream pauses between its events.
 */
import { pipeline, type Duplex, type Readable } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

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
