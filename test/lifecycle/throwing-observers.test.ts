import { finalize, map, mergeMap, of, share, Subject, take, tap } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import type { LifecycleEvent, LifecycleEventBody } from '../../src/lifecycle/event.js';
import { Publisher } from '../../src/lifecycle/publish.js';
import type { Logger } from '../../src/ports.js';
import { createControlledClock } from '../support/controlled-clock.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';

const note = (message: string): LifecycleEventBody => ({ type: 'diagnostic', kind: 'note', message });

const boom = (): never => {
  throw new Error('boom');
};

function makePublisher(logger: Partial<Logger> = {}): {
  publisher: Publisher;
  logged: string[];
  heard: string[];
  publishTwice: () => Promise<void>;
} {
  const logged: string[] = [];
  const publisher = new Publisher(createControlledClock(), {
    debug: () => {},
    warn: () => {},
    error: (message, details) => logged.push(`${message}: ${String(details?.['message'])}`),
    ...logger,
  });
  const heard: string[] = [];
  const publishTwice = async (): Promise<void> => {
    publisher.events$.subscribe({
      next: (event) => heard.push((event as LifecycleEvent & { message: string }).message),
      complete: () => heard.push('complete'),
    });
    publisher.publish(note('a'));
    await Promise.resolve();
    publisher.publish(note('b'));
    await Promise.resolve();
  };
  return { publisher, logged, heard, publishTwice };
}

describe('an observer that throws', () => {
  useLeakCheck();
  useCrashWatch();

  it.each([
    ['in next', { next: boom }],
    ['in next given as a function', boom],
  ])('%s is logged each time and hurts nobody', async (_, observer) => {
    const { publisher, logged, heard, publishTwice } = makePublisher();
    publisher.events$.subscribe(observer);
    await publishTwice();
    expect(heard).toEqual(['a', 'b']);
    expect(logged).toEqual(['an observer threw: boom', 'an observer threw: boom']);
  });

  it('later, since it is asynchronous, is logged each time and hurts nobody', async () => {
    const { publisher, logged, heard, publishTwice } = makePublisher();
    const later: () => unknown = async () => {
      await Promise.resolve();
      return boom();
    };
    publisher.events$.subscribe(later);
    publisher.events$.pipe(map(boom)).subscribe({ error: later });
    publisher.live(() => 1).subscribe({ complete: later });
    await publishTwice();
    publisher.complete();
    await Promise.resolve();
    expect(heard).toEqual(['a', 'b', 'complete']);
    await vi.waitFor(() => expect(logged).toEqual(Array(4).fill('an observer threw: boom')));
  });

  it.each([
    ['an object that cannot become a text', Object.create(null)],
    ['an error whose message cannot be read', Object.defineProperty(new Error(), 'message', { get: boom })],
  ])('%s, at once or later, hurts nobody', async (_, thrown) => {
    const { publisher, logged, heard, publishTwice } = makePublisher();
    publisher.events$.subscribe(() => {
      throw thrown as Error;
    });
    publisher.events$.subscribe((): unknown => Promise.reject(thrown as Error));
    await publishTwice();
    await vi.waitFor(() => expect(logged).toEqual(Array(4).fill('an observer threw: no reason was given')));
    expect(heard).toEqual(['a', 'b']);
  });

  it('in complete is logged, and the others complete', async () => {
    const { publisher, logged, heard, publishTwice } = makePublisher();
    publisher.events$.subscribe({ complete: boom });
    await publishTwice();
    publisher.complete();
    expect(heard).toEqual(['a', 'b', 'complete']);
    expect(logged).toEqual(['an observer threw: boom']);
  });

  it('in a pipe without an error handler is logged, and its stream ends', async () => {
    const { publisher, logged, heard, publishTwice } = makePublisher();
    publisher.events$.pipe(map(boom)).subscribe(() => {});
    publisher.events$.pipe(mergeMap((event) => of(event).pipe(tap(boom)))).subscribe(() => {});
    await publishTwice();
    expect(heard).toEqual(['a', 'b']);
    expect(logged).toEqual(['an observer threw: boom', 'an observer threw: boom']);
  });

  it('in a pipe tells its own error handler, which may throw as well', async () => {
    const { publisher, logged, heard, publishTwice } = makePublisher();
    const told: unknown[] = [];
    publisher.events$.pipe(map(boom)).subscribe({ error: (error: Error) => told.push(error.message) });
    publisher.events$.pipe(map(boom)).subscribe({ error: boom });
    await publishTwice();
    expect(heard).toEqual(['a', 'b']);
    expect(told).toEqual(['boom']);
    expect(logged).toEqual(['an observer threw: boom']);
  });

  it('after a shared stream does not end the others on it', async () => {
    const { publisher, logged, publishTwice } = makePublisher();
    const shared$ = publisher.events$.pipe(share());
    const seen: number[] = [];
    shared$.subscribe(boom);
    shared$.subscribe(({ seq }) => seen.push(seq));
    await publishTwice();
    expect(seen).toEqual([1, 2]);
    expect(logged).toHaveLength(2);
  });

  it('when its subscription is torn down hurts neither the others nor the end', async () => {
    const { publisher, logged, heard, publishTwice } = makePublisher();
    publisher.events$.pipe(finalize(boom)).subscribe(() => {});
    publisher.events$.pipe(take(1), finalize(boom)).subscribe(() => {});
    publisher
      .live(() => 1)
      .pipe(finalize(boom))
      .subscribe(() => {});
    await publishTwice();
    publisher.complete();
    expect(heard).toEqual(['a', 'b', 'complete']);
    expect(logged.length).toBeGreaterThanOrEqual(2);
  });

  it('of a live value hurts neither the value nor the batch', async () => {
    const { publisher, logged, heard, publishTwice } = makePublisher();
    const seen: number[] = [];
    let value = 0;
    publisher.live(() => (value += 1)).subscribe(boom);
    publisher.live(() => value).subscribe((now) => seen.push(now));
    await publishTwice();
    expect(heard).toEqual(['a', 'b']);
    expect(seen).toEqual([1, 2, 3]);
    expect(logged).toHaveLength(3);
  });

  it.each([
    ['at once', boom],
    ['later', (): unknown => Promise.reject(new Error('boom'))],
  ])('harms nobody even where the logger throws %s', async (_, error) => {
    const { publisher, heard, publishTwice } = makePublisher({ error });
    publisher.events$.subscribe(boom);
    publisher.events$.pipe(map(boom)).subscribe(() => {});
    await publishTwice();
    publisher.complete();
    expect(heard).toEqual(['a', 'b', 'complete']);
  });

  it('may be a Subject, which gets everything', async () => {
    const { publisher, publishTwice } = makePublisher();
    const subject = new Subject<LifecycleEvent>();
    const seen: number[] = [];
    subject.subscribe(({ seq }) => seen.push(seq));
    publisher.events$.subscribe(subject);
    await publishTwice();
    expect(seen).toEqual([1, 2]);
  });
});
