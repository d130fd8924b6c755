/**
 * The output to a client, where writing to a pipe on stdout waits for its reader (Windows): a client that does not read would
 * stop the event loop, and with it every connection.
 */
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { THIS_PLATFORM, type Platform } from '../../platform/platform.js';

/** The same output, written by another thread. Returned unchanged if that is not needed, or if there is no file descriptor. */
export function unblockedOutput(
  output: Writable & { readonly fd?: number },
  { stdoutBlocks }: Pick<Platform, 'stdoutBlocks'> = THIS_PLATFORM,
): Writable {
  if (!stdoutBlocks || output.fd === undefined) return output;
  const stream = createWriteStream('', { fd: output.fd, autoClose: false });
  // Its user listens only while it is used; a write can still fail later.
  return stream.on('error', () => {});
}
