import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readSync, rmSync, constants } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, type Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { unblockedOutput } from '../../../../src/gateway/stdio/client-streams.js';
import { platformOf } from '../../../../src/platform/platform.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const SIZE = 300_000;

it('a client that does not read does not stop the event loop where writing waits for it.', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'unblocked-'));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(pipe, constants.O_WRONLY);
  try {
    const output = unblockedOutput(Object.assign(new PassThrough(), { fd: writer }), platformOf('win32'));
    let isWritten = false;
    const written = new Promise<void>((resolve) => {
      output.write('x'.repeat(SIZE), () => {
        isWritten = true;
        resolve();
      });
    });
    for (let turns = 0; turns < 50; turns += 1) await turn();
    expect(isWritten).toBe(false);
    let read = 0;
    while (read < SIZE) {
      read += readAvailable(reader);
      await turn();
    }
    await written;
    expect(read).toBe(SIZE);
  } finally {
    closeSync(reader);
    closeSync(writer);
    rmSync(folder, { recursive: true });
  }
});

it('an output that does not block, or has no descriptor, is used as it is.', () => {
  const stream: Writable & { fd?: number } = new PassThrough();
  expect(unblockedOutput(stream, platformOf('win32'))).toBe(stream);
  expect(unblockedOutput(Object.assign(stream, { fd: 1 }), platformOf('linux'))).toBe(stream);
});

/** Bytes that were in the pipe; 0 if it is empty for now. */
function readAvailable(fd: number): number {
  try {
    return readSync(fd, Buffer.alloc(64 * 1_024));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
    throw error;
  }
}
