import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { TransportError } from '../../../../src/failures/transport-error.js';
import { WriteQueue } from '../../../../src/transports/stdio/write-queue.js';

const DIED = { code: 'process-exited', message: 'exit' } as const;

/** A pipe that accepts a write when the test says so. */
class SlowPipe extends Writable {
  readonly #taken: Buffer[] = [];
  #done: ((error?: Error) => void) | undefined;

  constructor() {
    super({ highWaterMark: 16 });
  }

  get taken(): readonly string[] {
    return this.#taken.map(String);
  }

  /** A chunk may end within a character. */
  get text(): string {
    return String(Buffer.concat(this.#taken));
  }

  override _write(bytes: Buffer, _: string, done: (error?: Error) => void): void {
    this.#taken.push(bytes);
    this.#done = done;
  }

  async take(error?: Error): Promise<void> {
    this.#done?.(error);
    await turn();
  }
}

function queue(): { queue: WriteQueue; pipe: SlowPipe; broken: () => number } {
  const pipe = new SlowPipe();
  pipe.on('error', () => {});
  let broken = 0;
  return { queue: new WriteQueue(pipe, () => (broken += 1)), pipe, broken: () => broken };
}

/** On Windows it is ended instead. */
const isClosed = (pipe: Writable): boolean => pipe.destroyed || pipe.writableEnded;

/** Whether each message was sent, or the `written` of its error, or that it still waits. */
async function outcomes(sends: readonly Promise<void>[]): Promise<unknown[]> {
  const outcome = (send: Promise<void>): Promise<unknown> =>
    send.then(
      () => 'sent',
      (error: unknown) => (error as TransportError).written,
    );
  return Promise.all(sends.map((send) => Promise.race([outcome(send), turn('waits')])));
}

describe('the write queue', () => {
  it('writes messages of one tick in one write, in order', async () => {
    const { queue: writes, pipe } = queue();
    const sends = ['a', 'b', 'c'].map((text) => writes.send(text));
    await turn();
    expect(pipe.taken).toEqual(['abc']);
    expect(await outcomes(sends)).toEqual(['waits', 'waits', 'waits']);
    await pipe.take();
    expect(await outcomes(sends)).toEqual(['sent', 'sent', 'sent']);
  });

  it('writes the first of many messages before the others are queued', async () => {
    const { queue: writes, pipe } = queue();
    const sends = Array.from({ length: 16 }, () => writes.send('x'));
    expect(pipe.taken).toEqual(['x'.repeat(16)]);
    for (let index = 0; index < 48; index += 1) sends.push(writes.send('y'));
    await turn();
    await pipe.take();
    expect(pipe.taken).toEqual(['x'.repeat(16), 'y'.repeat(48)]);
    await pipe.take();
    expect(new Set(await outcomes(sends))).toEqual(new Set(['sent']));
  });

  it('queues messages while the pipe is full, without a listener for each', async () => {
    const { queue: writes, pipe } = queue();
    const sends = [writes.send('first')];
    await turn();
    for (let index = 0; index < 100; index += 1) {
      sends.push(writes.send('x'));
      await turn();
    }
    expect(pipe.taken).toEqual(['first']);
    expect(pipe.listenerCount('drain')).toBe(0);
    await pipe.take();
    expect(pipe.taken).toEqual(['first', 'x'.repeat(100)]);
    await pipe.take();
    expect(new Set(await outcomes(sends))).toEqual(new Set(['sent']));
  });

  it('limits a write to 64 Ki characters, so that few messages share an unknown outcome', async () => {
    const { queue: writes, pipe } = queue();
    for (let index = 0; index < 5; index += 1) void writes.send('x'.repeat(30_000));
    void writes.send('y'.repeat(60_000));
    for (let index = 0; index < 5; index += 1) {
      await turn();
      await pipe.take();
    }
    expect(pipe.taken.map((text) => text.length)).toEqual([60_000, 60_000, 30_000, 60_000]);
  });

  it('writes a long message in chunks, and reports its progress.', async () => {
    const { queue: writes, pipe } = queue();
    const text = `${'aä€😀'.repeat(20_000)}\n`;
    const [long, short] = [writes.send(text), writes.send('short')];
    await turn();
    for (let taken = 0; taken < 4; taken += 1) {
      expect(writes.piecesTaken).toBe(taken);
      expect(await outcomes([long, short])).toEqual(['waits', 'waits']);
      await pipe.take();
    }
    expect(await outcomes([long, short])).toEqual(['sent', 'waits']);
    await pipe.take();
    expect(await outcomes([long, short])).toEqual(['sent', 'sent']);
    expect(pipe.text).toBe(`${text}short`);
  });

  it('finishes a message that has begun if everything else fails.', async () => {
    const { queue: writes, pipe } = queue();
    const text = 'x'.repeat(500_000);
    const sends = [writes.send(text), writes.send('waiting')];
    await turn();
    await pipe.take();
    writes.fail(DIED);
    expect(await outcomes(sends)).toEqual([true, false]);
    await pipe.take();
    await pipe.take();
    expect(pipe.text).toBe(text);
  });

  it('settles all messages if the server dies, and knows which ones cannot have reached it', async () => {
    const { queue: writes, pipe } = queue();
    const first = writes.send('in flight');
    await turn();
    const second = writes.send('waiting');
    writes.fail(DIED);
    const third = writes.send('too late');
    expect(await outcomes([first, second, third])).toEqual([true, false, false]);
    await expect(third).rejects.toMatchObject({ failure: DIED });
    expect(pipe.taken).toEqual(['in flight']);
  });

  it('reports once that the pipe is broken, writes no more, and leaves the cause to its user', async () => {
    const { queue: writes, pipe, broken } = queue();
    const first = writes.send('a');
    await turn();
    await pipe.take(new Error('EPIPE'));
    const second = writes.send('b');
    await turn();
    expect(broken()).toBe(1);
    expect(await outcomes([first, second])).toEqual(['waits', 'waits']);
    writes.fail(DIED);
    expect(await outcomes([first, second])).toEqual([true, false]);
    await expect(first).rejects.toBeInstanceOf(TransportError);
  });

  it('closes the pipe only after everything has been written', async () => {
    const { queue: writes, pipe } = queue();
    const sends = [writes.send('a')];
    await turn();
    sends.push(writes.send('b'));
    writes.finish();
    expect(isClosed(pipe)).toBe(false);
    await pipe.take();
    await pipe.take();
    expect(pipe.taken).toEqual(['a', 'b']);
    expect(isClosed(pipe)).toBe(true);
    expect(await outcomes(sends)).toEqual(['sent', 'sent']);
  });
});
