/** Retries of several hosts with one budget for each server: the memory engine on a virtual clock. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { FleetRetries } from '../../../src/fleet/fleet-retries.js';
import { createMemoryEngine } from '../../../src/fleet/memory-engine.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useLeakCheck } from '../../support/leak-check.js';

const EVERY_MS = 1_000;
const BURST = 2;

function makeRig() {
  const clock = createControlledClock();
  const engine = createMemoryEngine({ clock });
  const taken: string[] = [];
  const counted = new Proxy(engine, {
    get: (_, name) => {
      if (name !== 'take') return Reflect.get(engine, name) as unknown;
      return (...args: Parameters<typeof engine.take>) => {
        taken.push(args[0]);
        return engine.take(...args);
      };
    },
  });
  const allowed: string[] = [];
  const host = (label: string, servers: Readonly<Record<string, string | undefined>> = {}): FleetRetries =>
    new FleetRetries(counted, {
      clock,
      burst: BURST,
      everyMs: EVERY_MS,
      serverOf: (name) => (name in servers ? servers[name] : 'https://server.example/mcp'),
      onAllowed: (name) => allowed.push(label + name),
    });
  return { clock, engine, taken, allowed, host };
}

describe('retries of several hosts', () => {
  useLeakCheck();

  it('stay within one budget, and each is allowed at last.', async () => {
    const { clock, allowed, host } = makeRig();
    const names = ['1', '2', '3'];
    for (const label of ['x', 'y']) host(label).watch(names);
    await turn();
    expect(allowed).toHaveLength(BURST);
    for (let seconds = 1; allowed.length < 6; seconds += 1) {
      await clock.advance(EVERY_MS);
      expect(allowed.length).toBeLessThanOrEqual(BURST + seconds);
      expect(seconds).toBeLessThan(60);
    }
    for (const label of ['x', 'y']) {
      expect(allowed.filter((each) => each.startsWith(label))).toEqual(names.map((name) => label + name));
    }
    expect(clock.pending).toEqual([]);
  });

  it('at different servers have budgets of their own, whose names do not show the servers.', async () => {
    const { taken, allowed, host } = makeRig();
    const url = (name: string): string => `https://${name}.example:8443/mcp`;
    host('x', { a: url('secret'), b: `${url('secret')}/other`, c: url('secret') }).watch(['a', 'b', 'c']);
    host('y', { d: url('else') }).watch(['d']);
    await turn();
    expect(allowed.toSorted()).toEqual(['xa', 'xb', 'yd']);
    expect(new Set(taken).size).toBe(2);
    expect(taken.join('')).not.toMatch(/secret|8443/);
    host('x').watch([]);
  });

  it('at servers of the own machine need no share.', async () => {
    const { taken, allowed, host } = makeRig();
    const servers = {
      a: 'http://127.0.0.1:1/mcp',
      b: 'http://localhost/mcp',
      c: 'unix:///run/x.sock#/mcp',
      d: undefined,
      e: 'http://[::1]:1',
    };
    host('', servers).watch(Object.keys(servers));
    expect(allowed).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(taken).toEqual([]);
  });

  it('do not wait for a lost engine.', async () => {
    const { clock, engine, allowed, host } = makeRig();
    const waiting = host('x');
    waiting.watch(['1', '2', '3', '4']);
    await turn();
    expect(allowed).toEqual(['x1', 'x2']);
    await engine.close();
    waiting.watch(['3', '4', '5']);
    await clock.advance(2 * EVERY_MS);
    expect(allowed).toEqual(['x1', 'x2', 'x3', 'x4', 'x5']);
    host('y').watch(['1', '2', '3']);
    await turn();
    expect(allowed.slice(5)).toEqual(['y1', 'y2', 'y3']);
    expect(clock.pending).toEqual([]);
  });

  it('are not asked for once nobody waits, and may be asked for again.', async () => {
    const { clock, taken, allowed, host } = makeRig();
    const waiting = host('x');
    waiting.watch(['1', '2', '3', '4']);
    await turn();
    waiting.watch([]);
    await turn();
    expect(clock.pending).toEqual([]);
    const asked = taken.length;
    await clock.advance(10 * EVERY_MS);
    expect(taken).toHaveLength(asked);
    expect(allowed).toEqual(['x1', 'x2']);
    waiting.watch(['3']);
    await turn();
    expect(allowed).toEqual(['x1', 'x2', 'x3']);
  });
});
