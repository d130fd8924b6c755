import {
  connectable,
  finalize,
  firstValueFrom,
  from,
  map,
  merge,
  mergeMap,
  NEVER,
  Observable,
  of,
  share,
  Subject,
  take,
  tap,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import { isDiagnostic, type LifecycleEventBody } from '../../../src/lifecycle/event.js';
import { Publisher } from '../../../src/lifecycle/publish.js';
import { SafeObservable } from '../../../src/lifecycle/safe-observable.js';
import type { Logger } from '../../../src/ports.js';
import type { Mask } from '../../../src/secrets/secrets.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';

const note = (message: string): LifecycleEventBody => ({ type: 'diagnostic', kind: 'clock-jump', message });

const boom = (): never => {
  throw new Error('boom');
};

/** Fails from the second time on. */
function failLater(): () => void {
  let times = 0;
  return () => (times++ > 0 ? boom() : undefined);
}

function makePublisher({ logger = {}, mask }: { logger?: Partial<Logger>; mask?: Mask } = {}): {
  publisher: Publisher;
  logged: string[];
  /** The messages of the other diagnostics, and 'complete' at the end. */
  received: string[];
  /** The messages of the diagnostics about observers. */
  reported: string[];
  publishTwice: () => Promise<void>;
} {
  const logged: string[] = [];
  const logging = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (message, details) => void logged.push(`${message} ${String(details?.['reason'])}`),
    ...logger,
  } satisfies Logger;
  const publisher = new Publisher(createControlledClock(), logging, mask && (() => mask));
  const received: string[] = [];
  const reported: string[] = [];
  const publishTwice = async (): Promise<void> => {
    publisher.events$.subscribe({
      next: (event) => {
        if (!isDiagnostic(event)) return;
        (event.kind === 'observer-failed' ? reported : received).push(event.message);
      },
      complete: () => received.push('complete'),
    });
    for (const message of ['a', 'b']) {
      publisher.publish(note(message));
      await settled();
    }
  };
  return { publisher, logged, received, reported, publishTwice };
}

/** Resolves when every batch has been delivered, including those of rejected promises. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 10; turns += 1) await Promise.resolve();
}

const LOGGED = 'An observer threw. boom';
const REPORTED = 'An observer threw: boom';

describe('an observer that throws', () => {
  useLeakCheck();
  useCrashWatch();

  it.each([
    ['in next', { next: boom }],
    ['in next given as a function', boom],
    ['later, since it is asynchronous', (): unknown => Promise.reject(new Error('boom'))],
  ])('%s is logged each time, is a diagnostic once, and affects no other observer', async (_, observer) => {
    const { publisher, logged, received, reported, publishTwice } = makePublisher();
    publisher.events$.subscribe(observer);
    await publishTwice();
    expect(received).toEqual(['a', 'b']);
    expect(reported).toEqual([REPORTED]);
    expect(logged).toEqual(Array(3).fill(LOGGED));
  });

  it('gets a diagnostic for each subscription', async () => {
    const { publisher, reported, publishTwice } = makePublisher();
    publisher.events$.subscribe(boom);
    publisher.events$.subscribe(boom);
    await publishTwice();
    expect(reported).toEqual([REPORTED, REPORTED]);
  });

  it('at every diagnostic gets one for itself, and does not loop', async () => {
    const { publisher, logged, reported, publishTwice } = makePublisher();
    const failures$ = publisher.events$.pipe(map(({ seq }) => seq));
    failures$.subscribe(boom);
    failures$.subscribe((): unknown => Promise.reject(new Error('boom')));
    await publishTwice();
    expect(reported).toHaveLength(2);
    expect(logged).toHaveLength(2 * (2 + 2));
  });

  it('later in its error or complete handler is reported as well', async () => {
    const { publisher, logged, reported, received, publishTwice } = makePublisher();
    const later: () => unknown = async () => boom();
    publisher.events$.pipe(map(boom)).subscribe({ error: later });
    publisher.live(() => 1).subscribe({ complete: later });
    await publishTwice();
    publisher.complete();
    await settled();
    expect(received).toEqual(['a', 'b', 'complete']);
    expect(reported).toEqual([REPORTED]);
    expect(logged).toEqual([LOGGED, LOGGED]);
  });

  it.each([
    ['an object that cannot become a text', Object.create(null)],
    ['an error whose message cannot be read', Object.defineProperty(new Error(), 'message', { get: boom })],
  ])('%s, at once or later, affects no other observer', async (_, thrown) => {
    const { publisher, reported, received, publishTwice } = makePublisher();
    publisher.events$.subscribe(() => {
      throw thrown as Error;
    });
    publisher.events$.subscribe((): unknown => Promise.reject(thrown as Error));
    await publishTwice();
    expect(reported).toEqual(Array(2).fill('An observer threw: no reason was given'));
    expect(received).toEqual(['a', 'b']);
  });

  it('gets a diagnostic without secrets, and with a long message cut', async () => {
    const mask: Mask = (text) => text.replaceAll('hunter2', '***');
    const { publisher, reported, logged, publishTwice } = makePublisher({ mask });
    publisher.events$.subscribe(() => {
      throw new Error(`hunter2 ${'x'.repeat(10_000)}`);
    });
    await publishTwice();
    for (const text of [...reported, ...logged]) {
      expect(text).toMatch(/threw[.:] \*\*\* xxx/);
      expect(text.length).toBeLessThan(5_000);
    }
    expect(reported).toHaveLength(1);
  });

  it('in complete is logged, and the others complete', async () => {
    const { publisher, logged, received, publishTwice } = makePublisher();
    publisher.events$.subscribe({ complete: boom });
    await publishTwice();
    publisher.complete();
    expect(received).toEqual(['a', 'b', 'complete']);
    expect(logged).toEqual([LOGGED]);
  });

  it('in a pipe without an error handler gets a diagnostic, and its stream ends', async () => {
    const { publisher, reported, logged, received, publishTwice } = makePublisher();
    publisher.events$.pipe(map(boom)).subscribe(() => {});
    publisher.events$.pipe(mergeMap((event) => of(event).pipe(tap(boom)))).subscribe(() => {});
    await publishTwice();
    expect(received).toEqual(['a', 'b']);
    expect(reported).toEqual([REPORTED, REPORTED]);
    expect(logged).toEqual([LOGGED, LOGGED]);
  });

  it('in a pipe reaches its error handler, which may throw as well', async () => {
    const { publisher, reported, received, publishTwice } = makePublisher();
    const caught: unknown[] = [];
    publisher.events$.pipe(map(boom)).subscribe({ error: (error: Error) => caught.push(error.message) });
    publisher.events$.pipe(map(boom)).subscribe({ error: boom });
    await publishTwice();
    expect(received).toEqual(['a', 'b']);
    expect(caught).toEqual(['boom']);
    expect(reported).toEqual([REPORTED]);
  });

  it('at the end of any number of pipes gets a diagnostic', async () => {
    const { publisher, reported, received, publishTwice } = makePublisher();
    publisher.events$
      .pipe(map(({ seq }) => seq))
      .pipe()
      .pipe(take(1))
      .subscribe(boom);
    await publishTwice();
    expect(received).toEqual(['a', 'b']);
    expect(reported).toEqual([REPORTED]);
  });

  it('after a shared stream does not end the others on it', async () => {
    const { publisher, reported, publishTwice } = makePublisher();
    const shared$ = publisher.events$.pipe(share());
    const seen: number[] = [];
    shared$.subscribe(boom);
    shared$.subscribe(({ seq }) => seen.push(seq));
    await publishTwice();
    expect(seen).toEqual([1, 2, 3]);
    expect(reported).toEqual([REPORTED]);
  });

  it('when its subscription is torn down affects neither the others nor the end', async () => {
    const { publisher, logged, received, publishTwice } = makePublisher();
    publisher.events$.pipe(finalize(boom)).subscribe(() => {});
    publisher.events$.pipe(take(1), finalize(boom)).subscribe(() => {});
    publisher
      .live(() => 1)
      .pipe(finalize(boom))
      .subscribe(() => {});
    await publishTwice();
    publisher.complete();
    expect(received).toEqual(['a', 'b', 'complete']);
    expect(logged).toHaveLength(2);
  });

  it('of a live value affects neither the value, nor its other observers, nor the batch', async () => {
    const { publisher, reported, received, publishTwice } = makePublisher();
    const seen: number[] = [];
    const value$ = publisher.live(() => publisher.published);
    value$.subscribe(boom);
    value$.pipe(map(failLater()), finalize(boom)).subscribe();
    value$.subscribe((now) => seen.push(now));
    await publishTwice();
    expect(received).toEqual(['a', 'b']);
    expect(reported).toHaveLength(2);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(seen.at(-1)).toBe(publisher.published);
  });

  it.each([
    ['for events', (publisher: Publisher): unknown => publisher.onevent(boom)],
    ['for the end of a batch', (publisher: Publisher): unknown => publisher.onflushed(boom)],
  ])('is reported if it is an internal listener %s', async (_, listen) => {
    const { publisher, logged, reported, received, publishTwice } = makePublisher();
    listen(publisher);
    await publishTwice();
    expect(received).toEqual(['a', 'b']);
    expect(reported).toEqual([REPORTED]);
    expect(logged.length).toBeGreaterThan(1);
  });

  it.each([
    ['at once', boom],
    ['later', (): unknown => Promise.reject(new Error('boom'))],
  ])('does no harm even if the logger throws %s', async (_, error) => {
    const { publisher, received, publishTwice } = makePublisher({ logger: { error } });
    publisher.events$.subscribe(boom);
    publisher.events$.pipe(map(boom)).subscribe(() => {});
    await publishTwice();
    publisher.complete();
    expect(received).toEqual(['a', 'b', 'complete']);
  });

  it('may be a Subject, which gets everything', async () => {
    const { publisher, publishTwice } = makePublisher();
    const subject = new Subject<{ seq: number }>();
    const seen: number[] = [];
    subject.subscribe(({ seq }) => seen.push(seq));
    publisher.events$.subscribe(subject);
    await publishTwice();
    expect(seen).toEqual([1, 2]);
  });
});

describe('a stream whose observers are guarded', () => {
  useLeakCheck();
  useCrashWatch();

  it.each<[string, (numbers$: Observable<number>) => Observable<unknown>]>([
    ['pipe', (numbers$) => numbers$.pipe(map(String))],
    ['merge', (numbers$) => merge(numbers$, NEVER)],
    ['an operator that flattens', (numbers$) => of(1).pipe(mergeMap(() => numbers$))],
    ['an operator that is called', (numbers$) => map(String)(numbers$)],
    ['from', (numbers$) => from(numbers$)],
    ['a stream of the host', (numbers$) => new Observable((subscriber) => numbers$.subscribe(subscriber))],
  ])('is not protected in the result of %s', (_, make) => {
    const numbers = new Subject<number>();
    const numbers$ = new SafeObservable(numbers.asObservable(), boom);
    const seen: unknown[] = [];
    const subscription = make(numbers$).subscribe((value) => seen.push(Number(value)));
    numbers.next(7);
    subscription.unsubscribe();
    expect(seen).toEqual([7]);
    expect(numbers.observed).toBe(false);
  });

  it('is an Observable', async () => {
    const { publisher, publishTwice } = makePublisher();
    expect(publisher.events$).toBeInstanceOf(Observable);
    const first = firstValueFrom(publisher.events$);
    const each = publisher.events$.forEach(boom);
    const seen: number[] = [];
    const connected$ = connectable(publisher.events$);
    connected$.subscribe(({ seq }) => seen.push(seq));
    const connection = connected$.connect();
    await publishTwice();
    connection.unsubscribe();
    expect(await first).toMatchObject({ seq: 1 });
    await expect(each).rejects.toThrow('boom');
    expect(seen).toEqual([1, 2]);
  });

  it('takes the three functions of RxJS 7', async () => {
    const { publisher, publishTwice } = makePublisher();
    const seen: string[] = [];
    publisher.events$.subscribe(null, null, () => seen.push('complete'));
    publisher.events$.pipe(map(boom)).subscribe(undefined, () => seen.push('error'));
    publisher.events$.subscribe();
    await publishTwice();
    publisher.complete();
    expect(seen).toEqual(['error', 'complete']);
  });

  it('leaves what an operator returns unchanged if that is more than an Observable', () => {
    class Counted extends Observable<number> {
      readonly count = 7;
    }
    const { publisher } = makePublisher();
    const counted = publisher.events$.pipe(() => new Counted());
    expect(counted).toMatchObject({ count: 7 });
  });
});
