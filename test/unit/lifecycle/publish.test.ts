import { describe, expect, it } from 'vitest';
import type { LifecycleEvent, LifecycleEventBody } from '../../../src/lifecycle/event.js';
import { Publisher } from '../../../src/lifecycle/publish.js';
import { silentLogger } from '../../../src/ports.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';

const note = (message: string): LifecycleEventBody => ({ type: 'diagnostic', kind: 'clock-jump', message });

function makePublisher(): {
  publisher: Publisher;
  received: LifecycleEvent[];
  clock: ReturnType<typeof createControlledClock>;
} {
  const clock = createControlledClock(5_000);
  const publisher = new Publisher(clock, silentLogger);
  const received: LifecycleEvent[] = [];
  publisher.events$.subscribe((event) => received.push(event));
  return { publisher, received, clock };
}

describe('the publisher', () => {
  useLeakCheck();
  useCrashWatch();

  it('stamps every event with the time of publishing and the next number', async () => {
    const { publisher, received, clock } = makePublisher();
    publisher.publish(note('a'));
    await clock.advance(20);
    publisher.publish(note('b'));
    await clock.advance(0);
    expect(received.map(({ seq, at }) => [seq, at])).toEqual([
      [1, 5_000],
      [2, 5_020],
    ]);
  });

  it('masks the texts of an event, but not the address at which a person signs in', async () => {
    const publisher = new Publisher(
      createControlledClock(),
      silentLogger,
      () => (text) => text.replace('s3cr3t', '***'),
    );
    const received: LifecycleEvent[] = [];
    publisher.events$.subscribe((event) => received.push(event));
    const url = 'https://as.example/authorize?state=s3cr3t';
    publisher.publish({ type: 'connection.authRequired', server: 'a', generation: 1, url });
    publisher.publish(note(`see ${url}`));
    await Promise.resolve();
    expect(received).toMatchObject([{ url }, { message: 'see https://as.example/authorize?state=***' }]);
  });

  it('lets the event loop turn while an observer answers every event with another one', async () => {
    const { publisher, received } = makePublisher();
    let isAnswering = true;
    publisher.events$.subscribe(() => {
      if (isAnswering) publisher.publish(note('again'));
    });
    publisher.publish(note('first'));
    await new Promise((resolve) => setImmediate(resolve));
    isAnswering = false;
    expect(received.length).toBeGreaterThan(100);
    await new Promise((resolve) => setImmediate(resolve));
    expect(received.map(({ seq }) => seq)).toEqual(received.map((_, index) => index + 1));
  });

  it('does not let events pile up if the host never lets the event loop turn', async () => {
    const { publisher, received } = makePublisher();
    let most = 0;
    for (let published = 1; published <= 20_000; published += 1) {
      publisher.publish(note('again'));
      await Promise.resolve();
      most = Math.max(most, published - received.length);
    }
    expect(most).toBeLessThanOrEqual(1_001);
    await new Promise((resolve) => setImmediate(resolve));
    expect(received.map(({ seq }) => seq)).toEqual(received.map((_, index) => index + 1));
    expect(received).toHaveLength(20_000);
  });

  it('delivers nothing before the publishing code has finished', async () => {
    const { publisher, received } = makePublisher();
    publisher.publish(note('a'));
    publisher.publish(note('b'));
    expect(received).toEqual([]);
    await Promise.resolve();
    expect(received).toHaveLength(2);
  });

  it('replays nothing to an observer that comes late', async () => {
    const { publisher } = makePublisher();
    publisher.publish(note('early'));
    await Promise.resolve();
    const late: LifecycleEvent[] = [];
    publisher.events$.subscribe((event) => late.push(event));
    publisher.publish(note('later'));
    await Promise.resolve();
    expect(late).toMatchObject([{ message: 'later' }]);
  });

  it('keeps the order for all if an observer publishes an event', async () => {
    const { publisher, received } = makePublisher();
    publisher.events$.subscribe((event) => {
      if (event.seq === 1) publisher.publish(note('echo'));
    });
    const last: number[] = [];
    publisher.events$.subscribe(({ seq }) => last.push(seq));
    publisher.publish(note('a'));
    publisher.publish(note('b'));
    await Promise.resolve();
    await Promise.resolve();
    expect(received.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(last).toEqual([1, 2, 3]);
  });

  it('delivers what is queued before it completes, and nothing afterwards', async () => {
    const { publisher, received } = makePublisher();
    let isComplete = false;
    publisher.events$.subscribe({ complete: () => (isComplete = true) });
    publisher.publish(note('last'));
    publisher.complete();
    expect(received).toMatchObject([{ message: 'last' }]);
    expect(isComplete).toBe(true);
    publisher.publish(note('too late'));
    await Promise.resolve();
    expect(received).toHaveLength(1);
  });

  it('completes at once for an observer that comes after the end', () => {
    const { publisher } = makePublisher();
    publisher.complete();
    let isComplete = false;
    publisher.events$.subscribe({ complete: () => (isComplete = true) });
    expect(isComplete).toBe(true);
  });
});

describe('waiting for a condition', () => {
  useCrashWatch();

  it('resolves if it is already true', async () => {
    const { publisher } = makePublisher();
    await expect(publisher.until(() => true)).resolves.toBeUndefined();
  });

  it('resolves after the event that made it true was delivered', async () => {
    const { publisher, received } = makePublisher();
    let isSo = false;
    const waiting = publisher.until(() => isSo);
    isSo = true;
    publisher.publish(note('now'));
    await waiting;
    expect(received).toHaveLength(1);
  });

  it('resolves without an event after a wake-up', async () => {
    const { publisher, received } = makePublisher();
    let isSo = false;
    const waiting = publisher.until(() => isSo);
    await Promise.resolve();
    isSo = true;
    publisher.wake();
    await waiting;
    expect(received).toEqual([]);
  });

  it('rejects with the reason of its signal and forgets about it', async () => {
    const { publisher } = makePublisher();
    const controller = new AbortController();
    let looks = 0;
    const waiting = publisher.until(() => {
      looks += 1;
      return false;
    }, controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    const before = looks;
    publisher.publish(note('a'));
    await Promise.resolve();
    expect(looks).toBe(before);
  });

  it('rejects at once for a signal that is aborted already', async () => {
    const { publisher } = makePublisher();
    await expect(publisher.until(() => true, AbortSignal.abort(new Error('before')))).rejects.toThrow(
      'before',
    );
  });

  it('rejects if the end comes first, so that nobody waits forever', async () => {
    const { publisher } = makePublisher();
    const waiting = publisher.until(() => false);
    publisher.complete();
    await expect(waiting).rejects.toMatchObject({ code: 'NOT_READY' });
    await expect(publisher.until(() => false)).rejects.toMatchObject({ code: 'NOT_READY' });
  });

  it('resolves if the end makes it true', async () => {
    const { publisher } = makePublisher();
    let isSo = false;
    const waiting = publisher.until(() => isSo);
    isSo = true;
    publisher.complete();
    await expect(waiting).resolves.toBeUndefined();
  });

  it('rejects with the error that the condition throws', async () => {
    const { publisher } = makePublisher();
    const fail = (): boolean => {
      throw new Error('cannot tell');
    };
    await expect(publisher.until(fail)).rejects.toThrow('cannot tell');
  });
});

describe('a live value', () => {
  useCrashWatch();

  it('replays the present value, follows every batch and completes with the publisher', async () => {
    const { publisher } = makePublisher();
    let value = 1;
    const live$ = publisher.live(() => value);
    const seen: (number | string)[] = [];
    live$.subscribe({ next: (now) => seen.push(now), complete: () => seen.push('complete') });
    value = 2;
    publisher.publish(note('a'));
    await Promise.resolve();
    publisher.complete();
    expect(seen).toEqual([1, 2, 'complete']);
  });

  it('gives its last value and completes if subscribed to after the end', () => {
    const { publisher } = makePublisher();
    publisher.complete();
    const seen: (number | string)[] = [];
    publisher
      .live(() => 7)
      .subscribe({ next: (now) => seen.push(now), complete: () => seen.push('complete') });
    expect(seen).toEqual([7, 'complete']);
  });

  it('is read once after a batch for all subscribers, and not at all without any', async () => {
    const { publisher } = makePublisher();
    let reads = 0;
    const live$ = publisher.live(() => (reads += 1));
    publisher.publish(note('a'));
    await Promise.resolve();
    expect(reads).toBe(0);
    const seen: number[][] = [[], []];
    for (const each of seen) live$.subscribe((now) => each.push(now));
    publisher.publish(note('b'));
    await Promise.resolve();
    expect(seen).toEqual([
      [1, 3],
      [2, 3],
    ]);
  });

  it('is emitted again only if it has changed', async () => {
    const { publisher } = makePublisher();
    let value = {};
    let emissions = 0;
    publisher.live(() => value).subscribe(() => (emissions += 1));
    publisher.publish(note('a'));
    await Promise.resolve();
    expect(emissions).toBe(1);
    value = {};
    publisher.wake();
    await Promise.resolve();
    expect(emissions).toBe(2);
  });

  it('is not read after a batch that holds only calls', async () => {
    const { publisher } = makePublisher();
    let reads = 0;
    publisher.live(() => (reads += 1)).subscribe();
    const call = (): void =>
      publisher.publish({ type: 'call.started', server: 'a', generation: 1, call: 1, tool: 'x' });
    call();
    await Promise.resolve();
    expect(reads).toBe(1);
    publisher.wake();
    call();
    await Promise.resolve();
    expect(reads).toBe(2);
    call();
    publisher.publish(note('a'));
    call();
    await Promise.resolve();
    expect(reads).toBe(3);
    call();
    await Promise.resolve();
    expect(reads).toBe(3);
  });

  it('leaves nothing behind when it is unsubscribed from', async () => {
    const { publisher } = makePublisher();
    let reads = 0;
    const subscription = publisher.live(() => (reads += 1)).subscribe(() => {});
    subscription.unsubscribe();
    publisher.publish(note('a'));
    await Promise.resolve();
    expect(reads).toBe(1);
  });
});
