/** Unpacks logs that are packed with gzip (RFC 1952), as reports are. Runs in a browser. */

/** Longest log that is held in memory, bytes: a small file may be packed so that it unpacks without end. */
const MAX_HELD = 1_024 * 1_024 * 1_024;

/** Whether bytes begin as gzip does. */
export function isPacked(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** The same bytes, unpacked if they are packed. */
export async function* unpacked(
  chunks: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let first: Uint8Array | undefined;
  try {
    while (first === undefined || first.length < 2) {
      const { done, value } = await chunks.next();
      if (done === true) {
        if (first !== undefined) yield first;
        return;
      }
      first = first === undefined ? value : joined(first, value);
    }
    if (isPacked(first)) yield* inflated(first, chunks);
    else {
      yield first;
      yield* chunks;
    }
  } finally {
    await chunks.return();
  }
}

async function* inflated(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let next: Uint8Array | undefined = first;
  const packed = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = next ?? (await rest.next()).value;
      next = undefined;
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
  });
  const gzip = new DecompressionStream('gzip') as TransformStream<Uint8Array, Uint8Array>;
  const reader = packed.pipeThrough(gzip).getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** All chunks as one. Throws an `Error` beyond a limit. */
export async function together(
  chunks: AsyncIterable<Uint8Array>,
  most = MAX_HELD,
): Promise<Uint8Array<ArrayBuffer>> {
  const all: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > most) throw new Error(`the log is longer than ${most} bytes`);
    all.push(chunk as Uint8Array<ArrayBuffer>);
  }
  return new Uint8Array(await new Blob(all).arrayBuffer());
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}
