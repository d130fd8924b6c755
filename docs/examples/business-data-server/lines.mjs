/** Bytes into lines. A line is decoded whole, so that no character is split; a line that is too long is skipped and reported. */
import { parseError } from './rpc-error.mjs';

export const LINE_LIMIT_BYTES = 4 * 1024 * 1024;
const NEWLINE = 0x0a;
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * The last line needs no newline. Empty lines are left out.
 * @param {AsyncIterable<Uint8Array>} input
 * @returns {AsyncGenerator<string | import('./rpc-error.mjs').RpcError>} an error for a line that cannot be read
 */
export async function* linesOf(input) {
  /** @type {Uint8Array[]} */
  let parts = [];
  let size = 0;
  /** @param {Uint8Array} part */
  const add = (part) => {
    size += part.length;
    if (size <= LINE_LIMIT_BYTES) parts.push(part);
    else parts = [];
  };
  const take = () => {
    const line = size > LINE_LIMIT_BYTES ? tooLong() : decoded(parts);
    [parts, size] = [[], 0];
    return line;
  };
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end));
      start = end + 1;
      const line = take();
      if (line !== '') yield line;
    }
    add(chunk.subarray(start));
  }
  const last = take();
  if (last !== '') yield last;
}

/** @param {readonly Uint8Array[]} parts */
function decoded(parts) {
  try {
    return decoder.decode(Buffer.concat(parts)).trim();
  } catch {
    return parseError('the line is not UTF-8');
  }
}

function tooLong() {
  return parseError(`the line is longer than ${LINE_LIMIT_BYTES} bytes`);
}
