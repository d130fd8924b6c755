/** A server that sends endless requests and never reads: the queue of answers is limited, and the rest is rejected. */
import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { TransportError } from '../../../src/failures/transport-error.js';
import { WriteQueue } from '../../../src/transports/stdio/write-queue.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { heapKiB } from '../../support/heap.js';

useLeakCheck();
useCrashWatch();

/** A pipe that is never read. */
const stuckPipe = (): Writable => new Writable({ decodeStrings: false, write: () => {} });

describe('a pipe that is not read', () => {
  it('queues messages up to a limit, and rejects the rest as not written', async () => {
    const writes = new WriteQueue(stuckPipe(), () => {});
    const refused: TransportError[] = [];
    let settled = 0;
    const send = (): void => {
      writes.send('{"jsonrpc":"2.0","id":1,"result":{}}\n').then(
        () => (settled += 1),
        (error: unknown) => {
          refused.push(error as TransportError);
          settled += 1;
        },
      );
    };
    send();
    await turn();
    for (let sent = 0; sent < 100_000; sent += 1) send();
    await turn();
    const waiting = 100_001 - refused.length;
    expect(waiting).toBeLessThan(70_000);
    expect(refused[0]).toMatchObject({ written: false, failure: { code: 'connection-lost' } });
    expect(refused[0]?.message).toContain('too many are waiting');
    const before = heapKiB();
    for (let sent = 0; sent < 50_000; sent += 1) {
      send();
      refused.length = 0;
      if (sent % 1_000 === 0) await turn();
    }
    expect(heapKiB() - before).toBeLessThan(2_048);
    writes.fail({ code: 'process-exited', message: 'It exited.' });
    await turn();
    expect(settled).toBe(150_001);
  });

  it('queues one message of any length, and does not count written ones', async () => {
    let done = (): void => {};
    const pipe = new Writable({
      decodeStrings: false,
      write: (_chunk, _encoding, taken) => {
        done = taken;
      },
    });
    const taken = async (message: Promise<void>): Promise<void> => {
      const isTaken = message.then(() => true);
      while (!(await Promise.race([isTaken, turn(false)]))) {
        const take = done;
        done = () => {};
        take();
      }
    };
    const writes = new WriteQueue(pipe, () => {});
    const long = 'x'.repeat(300_000_000);
    const first = writes.send(long);
    await turn();
    const second = writes.send(long);
    await expect(writes.send('y')).rejects.toMatchObject({ written: false });
    await taken(first);
    await taken(second);
    await taken(writes.send('y'));
  });
});
