/** What the port promises (`src/fleet/engine.ts`), held against an engine that two hosts share. */
import { expect } from 'vitest';
import type { FleetEngine, FleetLease } from '../../../src/fleet/engine.js';

const TTL_MS = 300;

/** Characters that mean something to an engine, and such as take several bytes. */
const ODD = [
  '*',
  '>',
  'a b',
  'line\nline',
  '.',
  '..',
  'a.b',
  '?',
  '[x]',
  String.raw`\ `,
  'ü€😀',
  '-',
  '%2F',
  '{t}:e',
  '\0',
];

export type Contract = (a: FleetEngine, b: FleetEngine) => Promise<void>;

/** The result, once there is one. An engine tells no one when a lease has ended, so it is asked again. */
export async function eventually<T>(fn: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const end = performance.now() + 15_000;
  for (;;) {
    const value = await fn();
    if (value !== undefined) return value;
    if (performance.now() > end) throw new Error('It did not happen in time.');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export const held = (
  engine: FleetEngine,
  name: string,
  holder: string,
  ttlMs = TTL_MS,
): Promise<FleetLease> => eventually(() => engine.acquire(name, holder, ttlMs));

export const CONTRACT: Readonly<Record<string, Contract>> = {
  'E1: an entry is replaced only in the version that was read.': async (a, b) => {
    expect(await a.get('e1/none')).toBeUndefined();
    const first = (await a.put('e1/x', 'one', { ifVersion: '0' })) ?? '';
    expect(await b.put('e1/x', 'two', { ifVersion: '0' })).toBeUndefined();
    const second = (await b.put('e1/x', 'two', { ifVersion: first })) ?? '';
    expect(await a.put('e1/x', 'three', { ifVersion: first })).toBeUndefined();
    expect(await a.get('e1/x')).toEqual({ value: 'two', version: second });

    const racing = Array.from({ length: 20 }, (_, i) =>
      (i % 2 ? a : b).put('e1/race', String(i), { ifVersion: '0' }),
    );
    expect((await Promise.all(racing)).filter((version) => version !== undefined)).toHaveLength(1);
  },

  'E2: every host reads what one has put; what was removed is gone.': async (a, b) => {
    await a.put('e2/x', 'one');
    const { version } = (await b.get('e2/x')) ?? {};
    await b.remove('e2/x');
    await b.remove('e2/x');
    expect(await a.get('e2/x')).toBeUndefined();
    expect(await a.put('e2/x', 'late', { ifVersion: version ?? '' })).toBeUndefined();
    expect(await a.put('e2/x', 'again', { ifVersion: '0' })).toBeDefined();
    expect(await b.get('e2/x')).toMatchObject({ value: 'again' });
  },

  'E2: names and values are any text, up to a million bytes.': async (a, b) => {
    const long = 'ü'.repeat(500_000);
    for (const odd of [...ODD, 'n'.repeat(490)]) await a.put(`e2/${odd}`, odd);
    const read = await Promise.all(ODD.map(async (odd) => (await b.get(`e2/${odd}`))?.value));
    expect(read).toEqual(ODD);
    await a.put('e2//empty//', '');
    expect(await b.get('e2//empty//')).toMatchObject({ value: '' });
    await a.put('e2/long', long);
    expect((await b.get('e2/long'))?.value).toBe(long);
    await a.remove('e2/long');
    await expect(a.put('e2/long', `${long}.`)).rejects.toMatchObject({ code: 'text-too-long' });
    await expect(a.put('e2/x', '\ud800')).rejects.toThrow(TypeError);
    for (const name of ['', 'n'.repeat(501), '\ud800']) await expect(a.get(name)).rejects.toThrow(TypeError);
  },

  'E3: a watch hears what is there, and each change.': async (a, b) => {
    for (const odd of ODD) await a.put(`e3/${odd}`, odd);
    await a.put('e3x', 'else');
    const all = new Map<string, string | undefined>();
    const one: (string | undefined)[] = [];
    const stop = await b.watch('e3/', (key, value) => {
      all.set(key, value);
      if (key === 'e3/*') throw new Error('a watcher may fail');
    });
    const stopOne = await b.watch('e3/*', (_, value) => one.push(value));
    expect(new Map(all)).toEqual(new Map(ODD.map((odd) => [`e3/${odd}`, odd])));
    expect(one).toEqual(['*']);

    await a.put('e3/*', 'new');
    await a.remove('e3/>');
    await a.put('e3/below/it', 'deep');
    await a.put('e3x', 'else again');
    await eventually(() => (all.get('e3/below/it') === 'deep' ? true : undefined));
    expect([all.get('e3/*'), all.get('e3/>'), all.has('e3x'), all.size]).toEqual([
      'new',
      undefined,
      false,
      ODD.length + 1,
    ]);
    await eventually(() => (one.at(-1) === 'new' ? true : undefined));

    await Promise.all([stop(), stopOne(), stop()]);
    await a.put('e3/*', 'unheard');
    await b.get('e3/*');
    expect(all.get('e3/*')).toBe('new');
    expect(one).toEqual(['*', 'new']);
  },

  'E3: a watch that begins while an entry changes hears its last value.': async (a, b) => {
    const startedAt = performance.now();
    for (let round = 0; round < 20; round += 1) {
      let last: string | undefined;
      await a.put('e3 busy/x', `${round}`);
      const changing = (async () => {
        for (let i = 0; i < 5; i += 1) await a.put('e3 busy/x', `${round}.${i}`);
      })();
      const stop = await b.watch('e3 busy/', (_, value) => (last = value));
      await changing;
      await eventually(() => (last === `${round}.4` ? true : undefined));
      await stop();
    }
    // Each of them begins at once, and not when it is tried again.
    expect(performance.now() - startedAt).toBeLessThan(4_500);
  },

  'E4: a lease has one holder, who renews it and gives it back.': async (a, b) => {
    const first = await held(a, 'e4/x', 'a');
    expect(await b.acquire('e4/x', 'b', TTL_MS)).toBeUndefined();
    expect(await a.renew(first)).toBe(true);
    await a.release(first);
    expect(await a.renew(first)).toBe(false);
    const second = await held(b, 'e4/x', 'b');
    expect(second.token > first.token).toBe(true);
    await a.release(first);
    expect(await a.acquire('e4/x', 'a', TTL_MS)).toBeUndefined();
    expect(await b.renew(second)).toBe(true);

    const racing = Array.from({ length: 20 }, (_, i) => (i % 2 ? a : b).acquire('e4/race', `h${i}`, TTL_MS));
    expect((await Promise.all(racing)).filter((lease) => lease !== undefined)).toHaveLength(1);
    await expect(a.acquire('e4/x', 'a', 0)).rejects.toThrow(TypeError);
  },

  'E4: a lease that is not renewed ends, not before its deadline.': async (a, b) => {
    const first = await held(a, 'e4/late', 'a');
    const second = await held(b, 'e4/late', 'b');
    const now = performance.now();
    expect(now).toBeGreaterThanOrEqual(first.deadline);
    expect(now).toBeLessThan(first.deadline + 1_500);
    expect(await a.renew(first)).toBe(false);
    expect(await b.renew(second)).toBe(true);
  },

  'E5: who asks again for what it holds gets a new lease, with a greater token.': async (a) => {
    const first = await held(a, 'e5/x', 'a');
    const second = await held(a, 'e5/x', 'a');
    expect(second.token > first.token).toBe(true);
    expect([await a.renew(first), await a.renew(second)]).toEqual([false, true]);
    await a.release(second);
  },

  'E6: a host is asked by its name, and nobody answers for one that is gone.': async (a, b) => {
    const stop = await b.answer('e6 *.>', async (data) => {
      if (data === 'fail') throw new Error('secret');
      return data === 'long' ? 'x'.repeat(1_000_001) : data === 'never' ? new Promise(() => {}) : `${data}!`;
    });
    const ask = (data: string, host = 'e6 *.>', limitMs = 1_000): Promise<string> =>
      a.ask(host, data, limitMs);
    expect(await Promise.all([ask('line one\nline two'), ask(''), ask('ü 1 2')])).toEqual([
      'line one\nline two!',
      '!',
      'ü 1 2!',
    ]);
    expect(await ask('x'.repeat(500_000))).toHaveLength(500_001);
    for (const data of ['fail', 'long'])
      await expect(ask(data)).rejects.toMatchObject({ code: 'host-failed' });
    await expect(ask('never', 'e6 *.>', 30)).rejects.toMatchObject({ code: 'host-failed' });
    await expect(ask('x', 'e6 else')).rejects.toMatchObject({ code: 'host-not-found' });
    await stop();
    await expect(ask('x')).rejects.toMatchObject({ code: 'host-not-found' });
  },

  'E7: messages are heard in order by those who listen to their topic.': async (a, b) => {
    const all: string[] = [];
    const one: string[] = [];
    const stop = await b.subscribe('e7/', (topic, data) => {
      all.push(`${topic} ${data}`);
      throw new Error('a listener may fail');
    });
    const stopOne = await b.subscribe('e7/*', (_, data) => one.push(data));
    a.publish('e7/h/*', '1');
    a.publish('e7x', '2');
    a.publish('e7/*', '3');
    a.publish('e7/end', '4');
    await eventually(() => (all.length > 2 ? true : undefined));
    expect(all).toEqual(['e7/h/* 1', 'e7/* 3', 'e7/end 4']);
    expect(one).toEqual(['3']);
    await Promise.all([stop(), stopOne()]);
  },

  'E8: a log is read on from a cursor.': async (a, b) => {
    expect(await a.read('e8 *', '0')).toEqual([]);
    await a.append('e8 *', ['one', 'two']);
    await a.append('e8 else', ['else']);
    await a.append('e8 *', []);
    await b.append('e8 *', ['three\n']);
    const lines = await b.read('e8 *', '0');
    expect(lines.map(({ line }) => line)).toEqual(['one', 'two', 'three\n']);
    const after = async (index: number): Promise<readonly string[]> =>
      (await a.read('e8 *', lines[index]?.cursor ?? '')).map(({ line }) => line);
    expect([await after(1), await after(2)]).toEqual([['three\n'], []]);
    await a.append(
      'e8 many',
      Array.from({ length: 1_100 }, (_, i) => String(i)),
    );
    expect((await b.read('e8 many', '0')).map(({ line }) => Number(line))).toEqual(
      Array.from({ length: 1_100 }, (_, i) => i),
    );
    await a.drop('e8 *');
    expect(await b.read('e8 *', '0')).toEqual([]);
  },

  'E9: a budget is one for all.': async (a, b) => {
    const takes = Array.from({ length: 12 }, (_, i) => (i % 2 ? a : b).take('e9 *', 5, 60_000));
    const waits = await Promise.all(takes);
    expect(waits.filter((waitMs) => waitMs === 0)).toHaveLength(5);
    expect(waits.every((waitMs) => waitMs <= 60_000)).toBe(true);
    const many = Array.from({ length: 60 }, (_, i) => (i % 2 ? a : b).take('e9 many', 60, 60_000));
    expect(new Set(await Promise.all(many))).toEqual(new Set([0]));
    expect(await a.take('e9 quick', 1, 1)).toBe(0);
    await eventually(async () => ((await b.take('e9 quick', 1, 1)) === 0 ? true : undefined));
  },
};
