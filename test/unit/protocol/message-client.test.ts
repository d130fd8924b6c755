import { describe, expect, it } from 'vitest';
import { SentRequest } from '../../../src/protocol/message-client.js';
import { LazyAbortController } from '../../../src/async/abort.js';

/** A sent call, and its outcome. */
function sentCall() {
  const calls: unknown[] = [];
  const patience = new LazyAbortController();
  const options = {
    signal: patience,
    onProgress: () => {},
    origin: { method: 'tools/call', name: 'read', call: 1, context: undefined },
  };
  const waiter = {
    options,
    resolve: (result: object) => calls.push({ result }),
    reject: (error: Error) => calls.push({ error }),
  };
  const owner = {
    forget: (id: number) => calls.push({ forgotten: id }),
    mayGoOn: (id: number, cause: unknown) => calls.push({ mayContinue: id, cause }),
    cancel: (id: number) => calls.push({ cancelled: id }),
  };
  const sent = new SentRequest(7, 'tools/call', waiter, owner);
  sent.written = true;
  return { sent, patience, origin: options.origin, calls };
}

describe('a sent request', () => {
  it('drops its reference to the waiter once it is answered, and does not settle twice', () => {
    const { sent, patience, origin, calls } = sentCall();
    expect(sent.origin).toBe(origin);
    sent.answer({ content: [] });
    expect([sent.origin, sent.onProgress]).toEqual([undefined, undefined]);
    sent.answer({ content: ['again'] });
    expect(sent.fail(new Error('lost'))).toBe(false);
    patience.abort(new Error('too late'));
    expect(calls).toEqual([{ forgotten: 7 }, { result: { content: [] } }]);
  });

  it('is cancelled if the caller aborts it, and reports that its server may still work on it', () => {
    const { patience, origin, calls } = sentCall();
    const error = new Error('given up');
    patience.abort(error);
    expect(calls).toEqual([{ forgotten: 7 }, { mayContinue: 7, cause: origin }, { error }, { cancelled: 7 }]);
  });
});
