import { describe, expect, it } from 'vitest';
import type { LifecycleEvent } from '../../../src/lifecycle/event.js';
import { Publisher } from '../../../src/lifecycle/publish.js';
import { silentLogger } from '../../../src/ports.js';
import { createControlledClock } from '../../support/controlled-clock.js';

function publishing(most: number | ((server: string) => number)) {
  const clock = createControlledClock();
  const publisher = new Publisher(clock, silentLogger, undefined, (server) =>
    typeof most === 'number' ? most : most(server),
  );
  const seen: LifecycleEvent[] = [];
  publisher.onevent((event) => seen.push(event));
  const log = (server: string, count: number): void => {
    for (let index = 0; index < count; index += 1)
      publisher.publish({ type: 'server.log', server, generation: 1, stream: 'stderr', message: `${index}` });
  };
  const count = (type: string, server: string): number =>
    seen.filter((event) => event.type === type && 'server' in event && event.server === server).length;
  const leftOut = (): readonly string[] =>
    seen.flatMap((event) =>
      event.type === 'diagnostic' && event.kind === 'events-left-out' ? [event.message] : [],
    );
  return { clock, publisher, seen, log, count, leftOut };
}

describe('the events that one server causes', () => {
  it('are limited for each second, and one event tells how many were left out', async () => {
    const { clock, log, count, leftOut } = publishing(3);
    log('loud', 10);
    log('quiet', 3);
    await clock.advance(999);
    expect([count('server.log', 'loud'), count('server.log', 'quiet'), leftOut()]).toEqual([3, 3, []]);
    await clock.advance(1);
    expect(leftOut()).toEqual([expect.stringContaining('7 of server.log')]);
    log('loud', 4);
    await clock.advance(1_000);
    expect(count('server.log', 'loud')).toBe(6);
    expect(leftOut()).toEqual([expect.anything(), expect.stringContaining('1 of server.log')]);
    await clock.advance(10_000);
    expect(clock.pending).toEqual([]);
  });

  it('do not hide diagnostics, which have a limit of their own', async () => {
    const { clock, publisher, log, count, leftOut } = publishing(2);
    log('loud', 5);
    for (let index = 0; index < 4; index += 1)
      publisher.publish({ type: 'diagnostic', server: 'loud', kind: 'protocol-oddity', message: 'odd' });
    await clock.advance(0);
    expect(count('diagnostic', 'loud')).toBe(2);
    await clock.advance(1_000);
    expect(leftOut().join()).toMatch(/3 of server\.log.*2 of diagnostic/s);
  });

  it('have a limit for each server, which may change from one second to the next', async () => {
    const limits: Record<string, number> = { loud: 5, quiet: 1 };
    const { clock, log, count, leftOut } = publishing((server) => limits[server] ?? 0);
    const both = async (): Promise<readonly number[]> => {
      log('loud', 6);
      log('quiet', 6);
      await clock.advance(1_000);
      return [count('server.log', 'loud'), count('server.log', 'quiet')];
    };
    expect(await both()).toEqual([5, 1]);
    limits['quiet'] = 6;
    expect(await both()).toEqual([10, 7]);
    expect(leftOut()).toMatchObject(
      [/more than 5 .*1 of/, /more than 1 .*5 of/, /more than 5 .*1 of/].map((each) =>
        expect.stringMatching(each),
      ),
    );
  });

  it('are counted to the end', async () => {
    const { clock, publisher, log, leftOut } = publishing(1);
    log('loud', 3);
    publisher.complete();
    expect(leftOut()).toEqual([expect.stringContaining('2 of server.log')]);
    expect(clock.pending).toEqual([]);
  });

  it('do not limit what Troupe itself says', async () => {
    const { clock, publisher, seen } = publishing(1);
    for (let index = 0; index < 5; index += 1)
      publisher.publish({ type: 'connection.removed', server: 'a', generation: 1 });
    await clock.advance(0);
    expect(seen).toHaveLength(5);
  });
});
