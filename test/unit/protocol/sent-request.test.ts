import { describe, expect, it } from 'vitest';
import { SentRequest } from '../../../src/protocol/sent-request.js';
import { LazyAbortController } from '../../../src/async/lazy-abort-controller.js';

/** A sent call, and its outcome. */
function sentCall() {
  const told: unknown[] = [];
  const patience = new LazyAbortController();
  const options = {
    signal: patience,
    onProgress: () => {},
    origin: { method: 'tools/call', name: 'read', call: 1, context: undefined },
  };
  const waiter = {
    options,
    resolve: (result: object) => told.push({ result }),
    reject: (error: Error) => told.push({ error }),
  };
  const owner = {
    forget: (id: number) => told.push({ forgotten: id }),
    mayGoOn: (id: number, cause: unknown) => told.push({ goesOn: id, cause }),
    cancel: (id: number) => told.push({ cancelled: id }),
  };
  const sent = new SentRequest(7, 'tools/call', waiter, owner);
  sent.written = true;
  return { sent, patience, origin: options.origin, told };
}

describe('a sent request', () => {
  it('drops its reference to the waiter once it is answered, and does not settle twice', () => {
    const { sent, patience, origin, told } = sentCall();
    expect(sent.origin).toBe(origin);
    sent.answer({ content: [] });
    expect([sent.origin, sent.onProgress]).toEqual([undefined, undefined]);
    sent.answer({ content: ['again'] });
    expect(sent.fail(new Error('lost'))).toBe(false);
    patience.abort(new Error('too late'));
    expect(told).toEqual([{ forgotten: 7 }, { result: { content: [] } }]);
  });

  it('is cancelled if the caller aborts it, and reports that its server may still work on it', () => {
    const { patience, origin, told } = sentCall();
    const error = new Error('given up');
    patience.abort(error);
    expect(told).toEqual([{ forgotten: 7 }, { goesOn: 7, cause: origin }, { error }, { cancelled: 7 }]);
  });
});
