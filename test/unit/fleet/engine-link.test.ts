/** The limit of an operation of an engine in another process. */
import { describe, expect, it } from 'vitest';
import { EngineLink } from '../../../src/fleet/engine-link.js';
import { useLeakCheck } from '../../support/leak-check.js';

describe('an operation that was given up', () => {
  useLeakCheck();

  it('takes no further step, and what ends it is not reported as a problem of the engine.', async () => {
    const link = new EngineLink('test', { address: 'redis://host', timeoutMs: 20 }, /redis:/);
    link.up();
    let ended: unknown;
    const operation = link.run(async (signal) => {
      try {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        signal.throwIfAborted();
      } catch (error) {
        ended = error;
        throw error;
      }
    });
    const error = await operation.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'engine-unavailable' });
    expect(ended).toBe(error);
    expect(link.error.message).toBe((error as Error).message);
  });

  it('is not ended while it is within its limit.', async () => {
    const link = new EngineLink('test', { address: 'redis://host', timeoutMs: 60_000 }, /redis:/);
    link.up();
    const signal = await link.run(async (given) => given);
    expect(signal.aborted).toBe(false);
  });
});
