import { getEventListeners } from 'node:events';
import { createActor, toPromise } from 'xstate';
import { describe, expect, it } from 'vitest';
import { effect, toRawFailure, whyFailed, type EffectSpec } from '../../../src/actors/effect.js';
import { LeftState, withinLimit } from '../../../src/async/timers.js';
import { ProtocolFailure, RequestLostError, RpcError } from '../../../src/protocol/protocol-client.js';
import { createMask, NO_MASK, type Mask } from '../../../src/secrets/secrets.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import { createControlledClock, type ControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { never } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';

interface Input {
  readonly name: string;
  readonly limitMs: number;
}

type Spec = EffectSpec<object, Input>;

/** Runs one effect as the chart would; the result is what it settles with, either way. */
function run(
  spec: Partial<Spec> & Pick<Spec, 'run'>,
  {
    clock = createControlledClock(),
    mask = NO_MASK,
    limitMs = 0,
  }: { clock?: ControlledClock; mask?: Mask; limitMs?: number } = {},
): { settled: Promise<unknown>; stop: () => void } {
  const servers = { mask: () => mask } as never;
  const logic = effect<object, Input>(
    { clock, servers },
    { phase: 'launch', limitMs: (input) => input.limitMs, ...spec },
  );
  const actor = createActor(logic, { input: { name: 'a', limitMs } });
  actor.subscribe({ error: () => {} });
  const settled = toPromise(actor).catch((reason: unknown) => reason);
  actor.start();
  return { settled, stop: () => actor.stop() };
}

describe('an effect', () => {
  useLeakCheck();
  useCrashWatch();

  it('settles with its output and the times of its start and end', async () => {
    const clock = createControlledClock(100);
    const { settled } = run({ run: () => clock.advance(40).then(() => ({ pid: 7 })) }, { clock });
    await expect(settled).resolves.toEqual({ pid: 7, startedAt: 100, at: 140 });
  });

  it('has no negative duration if the clock is set back while it runs', async () => {
    const clock = createControlledClock(100);
    let setBackMs = 0;
    const { settled } = run(
      { run: async () => ({ setBackMs: (setBackMs = 90) }) },
      { clock: { ...clock, now: () => clock.now() - setBackMs } },
    );
    await expect(settled).resolves.toMatchObject({ startedAt: 10, at: 10 });
  });

  it('fails with a plain record that has phase and time, never with an Error', async () => {
    const failing = new TransportError({
      code: 'command-not-found',
      message: 'no such program',
      hint: 'install it',
    });
    const { settled } = run({ run: () => Promise.reject(failing) }, { clock: createControlledClock(5) });
    const failure = await settled;
    expect(failure).not.toBeInstanceOf(Error);
    expect(failure).toEqual({
      code: 'command-not-found',
      message: 'no such program',
      hint: 'install it',
      phase: 'launch',
      at: 5,
    });
  });

  it('treats any other thrown value as an internal error, even if it is thrown synchronously', async () => {
    const boom = (): never => {
      throw new TypeError('x is not a function');
    };
    const clock = createControlledClock();
    const { settled } = run({ run: boom }, { clock, limitMs: 1_000 });
    await expect(settled).resolves.toMatchObject({ code: 'internal', message: 'x is not a function' });
    expect(clock.pending).toEqual([]);
  });

  it('ends at its time limit, whatever the work does, and aborts the work', async () => {
    const clock = createControlledClock();
    let received: AbortSignal | undefined;
    const { settled } = run(
      {
        run: (_, signal) => {
          received = signal;
          return never();
        },
        expired: ({ name }, limit) => ({ code: 'launch-timeout', message: `${name} ${limit}` }),
      },
      { clock, limitMs: 1_000 },
    );
    await clock.advance(999);
    expect(received?.aborted).toBe(false);
    await clock.advance(1);
    await expect(settled).resolves.toMatchObject({ code: 'launch-timeout', message: 'a 1000' });
    expect(received?.aborted).toBe(true);
    expect(clock.pending).toEqual([]);
  });

  it('has no limit if the limit is 0', async () => {
    const clock = createControlledClock();
    const { stop } = run({ run: never }, { clock, limitMs: 0 });
    expect(clock.pending).toEqual([]);
    stop();
  });

  it('leaves no timer when its state is exited, and aborts the work', async () => {
    const clock = createControlledClock();
    let received: AbortSignal | undefined;
    const { stop } = run(
      {
        run: (_, signal) => {
          received = signal;
          return never();
        },
      },
      { clock, limitMs: 1_000 },
    );
    stop();
    await clock.advance(0);
    expect(received?.aborted).toBe(true);
    expect(clock.pending).toEqual([]);
  });

  it('adds what is known about the server to fields that the failure lacks', async () => {
    const details = (): { stderrTail: string[]; message: string } => ({
      stderrTail: ['last words'],
      message: 'overridden',
    });
    const { settled } = run({ run: () => Promise.reject(new Error('gone')), details });
    await expect(settled).resolves.toMatchObject({ stderrTail: ['last words'], message: 'gone' });
  });

  it('masks secrets in its failure', async () => {
    const { settled } = run(
      { run: () => Promise.reject(new Error('bad token hunter2')) },
      { mask: createMask(['hunter2']) },
    );
    await expect(settled).resolves.toMatchObject({ message: 'bad token ***' });
  });
});

describe('a limit', () => {
  useCrashWatch();

  it('leaves no listener on the outer signal, however it ends', async () => {
    const clock = createControlledClock();
    const { signal } = new AbortController();
    await withinLimit(clock, signal, 100, async () => 1);
    await withinLimit(clock, signal, 100, () => Promise.reject(new Error('no'))).catch(() => {});
    const late = withinLimit(clock, signal, 100, never);
    late.catch(() => {});
    await clock.advance(100);
    await expect(late).rejects.toThrow('100 ms');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(clock.pending).toEqual([]);
  });

  it('starts no work if its state was already exited', async () => {
    let hasBegun = false;
    const work = async (): Promise<void> => {
      hasBegun = true;
    };
    const ended = withinLimit(createControlledClock(), AbortSignal.abort(), 0, work);
    await expect(ended).rejects.toBeInstanceOf(LeftState);
    expect(hasBegun).toBe(false);
  });

  it('gives the reason if the work failed, and none if its state was exited', async () => {
    const clock = createControlledClock();
    const left = new AbortController();
    const reasons: (string | undefined)[] = [];
    const work = async (signal: AbortSignal): Promise<void> => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      reasons.push(whyFailed(new Error('ignored'), signal));
    };
    withinLimit(clock, left.signal, 0, work).catch(() => {});
    left.abort();
    withinLimit(clock, new AbortController().signal, 50, work).catch(() => {});
    await clock.advance(50);
    expect(reasons).toEqual([undefined, 'It took longer than 50 ms.']);
    expect(whyFailed(new Error('plain'), new AbortController().signal)).toBe('plain');
  });
});

describe('the failure of a thrown value', () => {
  it.each([
    [new TransportError({ code: 'spawn-failed', message: 'a' }), { code: 'spawn-failed', message: 'a' }],
    [
      new RequestLostError({ code: 'connection-lost', message: 'b' }, true),
      { code: 'connection-lost', message: 'b' },
    ],
    [
      new ProtocolFailure({ code: 'protocol-version', message: 'c' }),
      { code: 'protocol-version', message: 'c' },
    ],
    [
      new RpcError(-32000, 'd', 7),
      { code: 'server-error', message: expect.stringContaining('d'), rpcCode: -32000 },
    ],
    [
      new RpcError(-32000, 'd', 7, 'tools/list'),
      { code: 'server-error', message: expect.stringContaining('tools/list'), rpcCode: -32000 },
    ],
    [new Error('e'), { code: 'internal', message: 'e' }],
    ['f', { code: 'internal', message: 'f' }],
  ])('%s', (thrown, failure) => {
    expect(toRawFailure(thrown)).toEqual(failure);
  });

  it('has a bounded length, whatever a server sends', () => {
    const { message } = toRawFailure(new RpcError(-1, 'x'.repeat(1_000_000), undefined));
    expect(message.length).toBeLessThan(5_000);
  });
});
