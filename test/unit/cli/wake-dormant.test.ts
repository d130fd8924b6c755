import { describe, expect, it } from 'vitest';
import { wakeDormant } from '../../../src/cli/with-servers.js';
import type { Troupe } from '../../../src/runtime/troupe.js';
import { makeStatus } from '../../support/make-status.js';

function makeTroupe(start: (name: string) => Promise<void>): Pick<Troupe, 'status' | 'connection'> {
  return {
    status: [
      makeStatus(),
      makeStatus({ server: 'lazy' }, { configuring: 'dormant' }),
      makeStatus({ server: 'broken' }, { configuring: 'dormant' }),
    ],
    connection: (name) => ({ start: () => start(name) }) as ReturnType<Troupe['connection']>,
  };
}

describe('a check', () => {
  it('wakes every lazy server, and ignores failures, which the status shows.', async () => {
    const woken: string[] = [];
    const troupe = makeTroupe(async (name) => {
      woken.push(name);
      if (name === 'broken') throw new Error('exit');
    });
    await expect(wakeDormant(troupe, new AbortController().signal)).resolves.toBeUndefined();
    expect(woken).toEqual(['lazy', 'broken']);
  });

  it('ends if it is interrupted.', async () => {
    const stop = new AbortController();
    const troupe = makeTroupe(async () => stop.abort(new Error('interrupted')));
    await expect(wakeDormant(troupe, stop.signal)).rejects.toThrow('interrupted');
  });
});
