/** A host that does not use RxJS: events in a loop, one event as a promise, and callbacks. */
import { describe, expect, it } from 'vitest';
import type { LifecycleEvent } from '../../../src/lifecycle/event.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
const { make } = useTroupes();

const one = () => make({ servers: { a: inProcess(new ScriptedServer()) } });

describe('events()', () => {
  it('gives every event from its call on, in order, and ends when the troupe is closed', async () => {
    const { troupe, clock, events } = one();
    const seen: LifecycleEvent[] = [];
    const reading = (async () => {
      for await (const event of troupe.events()) seen.push(event);
    })();
    await troupe.start();
    await passTime(clock, troupe.close());
    await reading;
    expect(seen).toEqual(events.all);
    expect(seen.at(-1)).toMatchObject({ type: 'manager.stopped' });
  });

  it('unsubscribes when the loop is left', async () => {
    const { troupe } = one();
    const feed = troupe.events();
    await troupe.start();
    for await (const event of feed) if (event.type === 'connection.added') break;
    await troupe.callTool('mcp__a__echo');
    expect(await feed.next()).toEqual({ done: true, value: undefined });
  });

  it('leaves out the oldest for a slow loop, says so once, and goes on', async () => {
    const { troupe, events } = one();
    const feed = troupe.events({ buffer: 3 });
    await troupe.settled();
    for (const _ of [1, 2, 3]) await troupe.callTool('mcp__a__echo');
    const left = events.of('diagnostic').filter(({ kind }) => kind === 'events-left-out');
    expect(left).toHaveLength(1);
    const kept = [await feed.next(), await feed.next(), await feed.next()];
    expect(kept.map(({ value }) => value?.seq)).toEqual(events.all.slice(-3).map(({ seq }) => seq));
    const next = feed.next();
    await troupe.callTool('mcp__a__echo');
    expect(await next).toMatchObject({ value: { type: 'call.started' } });
  });

  it('throws the reason of its signal in the loop', async () => {
    const { troupe } = one();
    const controller = new AbortController();
    const reason = new Error('enough');
    const loop = troupe.events({ signal: controller.signal });
    const waiting = loop.next();
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(await loop.next()).toMatchObject({ done: true });
    await expect(troupe.events({ signal: AbortSignal.abort(reason) }).next()).rejects.toBe(reason);
  });

  it('after the close ends at once', async () => {
    const { troupe } = one();
    await troupe.close();
    expect(await troupe.events().next()).toMatchObject({ done: true });
  });

  it.each([0, 1.5, '9'])('refuses a buffer of %j', (buffer) => {
    expect(() => one().troupe.events({ buffer: buffer as never })).toThrow(TypeError);
  });
});

describe('a name that nothing has', () => {
  it.each<[name: unknown, told: RegExp]>([
    ['connection.redy', /^once: the event type 'connection.redy' .*did you mean 'connection.ready'\?$/],
    ['ready', /^once: the event type 'ready' is not known here/],
    ['__proto__', /'__proto__' is not known here/],
    [undefined, /'undefined' is not known here/],
    [{ toString: null }, /is not known here/],
  ])('is refused as the type of an event to wait for: %#', async (name, told) => {
    const { troupe } = one();
    await expect(troupe.once(name as 'connection.ready')).rejects.toThrow(told);
    expect(() => troupe.on(name as 'connection.ready', () => {})).toThrow(TypeError);
  });

  it('is refused as the name of a list', () => {
    const { troupe } = one();
    expect(() => troupe.onChange('toolz' as 'tools', () => {})).toThrow(
      /^onChange: the list 'toolz' .*did you mean 'tools'\?$/,
    );
  });
});

describe('once()', () => {
  it('resolves with the next event of the type that fits', async () => {
    const { troupe } = make({
      servers: { a: inProcess(new ScriptedServer()), b: inProcess(new ScriptedServer()) },
    });
    const ready = troupe.once('connection.ready', { filter: ({ server }) => server === 'b' });
    await troupe.start();
    expect(await ready).toMatchObject({ type: 'connection.ready', server: 'b' });
  });

  it('rejects when the troupe closes, when the signal aborts, and when the filter throws', async () => {
    const { troupe } = one();
    const reason = new Error('enough');
    const controller = new AbortController();
    const aborted = troupe.once('connection.failed', { signal: controller.signal });
    const filtered = troupe.once('connection.ready', {
      filter: () => {
        throw new Error('boom');
      },
    });
    const closed = troupe.once('connection.failed');
    const outcomes = Promise.allSettled([aborted, filtered, closed]);
    controller.abort(reason);
    await troupe.start();
    await troupe.close();
    const [first, second, third] = await outcomes;
    expect(first).toMatchObject({ reason });
    expect(second).toMatchObject({ reason: { message: 'boom' } });
    expect(third).toMatchObject({ reason: { code: 'NOT_READY' } });
    await expect(troupe.once('connection.failed')).rejects.toMatchObject({ code: 'NOT_READY' });
    await expect(troupe.once('connection.failed', { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
  });
});

describe('callbacks', () => {
  it('hear the events of a type, the lists and the states until they are stopped', async () => {
    const { troupe, clock } = one();
    const heard: string[] = [];
    const stops = [
      troupe.on('connection.ready', ({ server }) => heard.push(`ready ${server}`)),
      troupe.onChange('tools', (tools) => heard.push(`tools ${tools.length}`)),
    ];
    await troupe.start();
    const states: string[] = [];
    const connection = troupe.connection('a')!;
    stops.push(connection.onState((state) => states.push(state)));
    expect(heard).toEqual(expect.arrayContaining(['ready a', 'tools 0', 'tools 1']));
    for (const stop of stops) stop();
    const before = heard.length;
    await passTime(clock, connection.restart());
    expect([heard.length, states]).toEqual([before, ['ready']]);
  });

  it('that throw harm nobody', async () => {
    const { troupe, events } = one();
    troupe.on('connection.ready', () => {
      throw new Error('boom');
    });
    await troupe.settled();
    expect(events.of('diagnostic')).toMatchObject([{ kind: 'observer-failed' }]);
  });
});
