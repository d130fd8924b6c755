import { describe, expect, it } from 'vitest';
import { abortable } from '../../../src/async/abort.js';
import { useCrashWatch } from '../../support/crash-watch.js';

describe('a wait with a signal', () => {
  useCrashWatch();

  it('settles as the promise does.', async () => {
    const { signal } = new AbortController();
    await expect(abortable(Promise.resolve(1), signal)).resolves.toBe(1);
    await expect(abortable(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  });

  it('rejects with the reason of the signal, at once if the signal is already aborted.', async () => {
    const controller = new AbortController();
    const waiting = abortable(new Promise(() => {}), controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(abortable(Promise.resolve(1), controller.signal)).rejects.toThrow('enough');
  });

  it('handles a promise that rejects after the wait has ended.', async () => {
    const failing = Promise.reject(new Error('too late'));
    await expect(abortable(failing, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    await new Promise((resolve) => setImmediate(resolve));
  });
});
