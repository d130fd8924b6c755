import { expect, it } from 'vitest';
import { send } from '../../src/calls/send.js';
import { OutcomeUnknownError } from '../../src/errors.js';
import type { LifecycleEventBody } from '../../src/lifecycle/event.js';
import { RpcError, type ProtocolClient } from '../../src/protocol/protocol-client.js';
import { Session } from '../../src/sessions.js';
import { Patience } from '../../src/calls/patience.js';
import { createControlledClock } from '../support/controlled-clock.js';
import { useLeakCheck } from '../support/leak-check.js';

useLeakCheck();

it('A sending whose failure cannot even be looked at is told as finished, with an outcome that nobody knows.', async () => {
  const clock = createControlledClock();
  const told: LifecycleEventBody[] = [];
  const patience = new Patience(clock, { idleMs: 0, totalMs: 0 }, undefined);
  const session = new Session({ name: 'a', generation: 1 });
  session.client = {
    request: () => Promise.reject(new RpcError(-1, 'dark', {})),
  } as Partial<ProtocolClient> as ProtocolClient;
  const mask = (text: string): string => {
    if (text === 'dark') throw new RangeError('no room');
    return text;
  };
  const ports = {
    clock,
    publish: (event: LifecycleEventBody) => void told.push(event),
    mask: () => mask,
    nextCall: () => 1,
  };
  const call = { tool: 'x', args: {}, timeoutMs: 0, retryCalls: 'never', options: {} } as const;
  const sent = await send(ports, session, call, patience);
  patience.end();
  expect(sent).toMatchObject({ outcome: 'outcome-unknown', error: expect.any(OutcomeUnknownError) });
  expect(told.map(({ type }) => type)).toEqual(['call.started', 'call.finished']);
  expect(session.calls).toBe(0);
});
