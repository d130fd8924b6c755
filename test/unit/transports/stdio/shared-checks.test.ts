/** How often the process table is read, with real processes. */
import { describe, expect, it, vi } from 'vitest';
import { livingProcesses } from '../../../../src/transports/stdio/process-table.js';
import { sharedChecks } from '../../../../src/transports/stdio/shared-checks.js';
import { HandClock } from '../../../support/hand-clock.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { endSessionsAfterEach, faulty, started } from '../../../support/recorded-session.js';

/** Mocked because its calls are what is counted. */
const readings = vi.hoisted(() => ({ count: 0 }));

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>();
  const readdirSync = (...args: Parameters<typeof real.readdirSync>): unknown => {
    if (args[0] === '/proc') readings.count += 1;
    return real.readdirSync(...args);
  };
  return { ...real, readdirSync };
});

const SERVERS = 8;

describe('a server that ends in the turn in which the process table was read', () => {
  it('is not looked up in what was read before its end', () => {
    const before = livingProcesses();
    expect(livingProcesses()).toBe(before);
    sharedChecks(new HandClock()).ended({}, () => {});
    expect(livingProcesses()).not.toBe(before);
  });
});

describe('stdio sessions that are closed at the same time', () => {
  useLeakCheck();
  endSessionsAfterEach();

  it('read the process table once before their inputs end, and once when the last server has ended', async () => {
    const clock = new HandClock();
    const servers = await Promise.all(
      Array.from({ length: SERVERS }, () => started(faulty('plain'), { clock })),
    );
    await Promise.all(servers.map((server) => server.ask(1, 'ping')));
    readings.count = 0;
    await Promise.all(servers.map(({ transport }) => transport.close()));
    expect(readings.count).toBe(2);
    expect(servers.map(({ transport }) => transport.ended)).toEqual(Array(SERVERS).fill(undefined));
    expect(clock.pending).toBe(0);
  });
});
