/** `settled` resolves, however many servers are tried again and again. */
import { describe, expect, it } from 'vitest';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fakeRemote, FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent } from '../../support/scripted-server.js';
import { passTime, useTroupes } from '../../support/test-troupe.js';

const A_WHILE_MS = 1_800_000;

describe('a fleet with remote servers that never answer', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  /** Each attempt takes half a minute, and the next one follows about a minute later. */
  const deaf = () => new FakeServer(() => ({ kind: 'http' }), { on: { initialize: silent } });
  const fleet = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, fakeRemote(deaf())]));

  it('is settled when each of them has failed, even if they are hardly ever idle at the same time', async () => {
    const { troupe, clock } = make({ servers: fleet(12) });
    await passTime(clock, troupe.start());
    await clock.advance(A_WHILE_MS);
    await passTime(clock, troupe.settled(), 60_000);
    expect(troupe.status.map(({ error }) => error?.code)).toEqual(Array(12).fill('handshake-timeout'));
  });

  it('is not settled before the first round of each has ended', async () => {
    const { troupe, clock } = make({ servers: fleet(12) });
    await passTime(clock, troupe.start());
    let isSettled = false;
    const settling = troupe.settled().then(() => (isSettled = true));
    await clock.advance(140_000);
    expect(isSettled).toBe(false);
    await passTime(clock, settling, 180_000);
    expect(troupe.status.every(({ attempt, maxAttempts }) => attempt === maxAttempts)).toBe(true);
  });

  it('is not settled while a server makes its first attempt, even if another one of that name had failed', async () => {
    const { troupe, clock } = make({ servers: fleet(2) });
    await passTime(clock, troupe.start());
    await clock.advance(A_WHILE_MS);
    const isFailed = (name: string): boolean => troupe.connection(name)?.state === 'failed';
    while (isFailed('s0') || !isFailed('s1')) await clock.advance(1_000);
    let isSettled = false;
    const settling = troupe.settled().then(() => (isSettled = true));
    await clock.advance(0);
    await passTime(clock, troupe.remove('s1'));
    await troupe.add('s1', fakeRemote(deaf()));
    await clock.advance(100_000);
    expect(isSettled).toBe(false);
    await passTime(clock, settling, 180_000);
  });
});
