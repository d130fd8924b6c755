import { expect, it } from 'vitest';
import { CallCheck } from '../../../src/calls/call-check.js';
import type { CallRoute } from '../../../src/calls/call-route.js';
import { Semaphore } from '../../../src/async/semaphore.js';
import { makeCall } from '../../../src/calls/call.js';
import { OutcomeUnknownError } from '../../../src/errors.js';
import type { LifecycleEventBody } from '../../../src/lifecycle/event.js';
import { RpcError, type ProtocolClient } from '../../../src/protocol/protocol-client.js';
import { Session } from '../../../src/sessions/sessions.js';
import { SchemaValidator } from '../../../src/schemas/schema-validator.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useLeakCheck } from '../../support/leak-check.js';

const PLAN = { config: { command: 'server' }, cacheKey: undefined, reviewed: undefined, folder: '/' };

useLeakCheck();

it('An attempt whose error cannot be read is published as finished, with an unknown outcome.', async () => {
  const published: LifecycleEventBody[] = [];
  const publish = (event: LifecycleEventBody): void => void published.push(event);
  const session = new Session({ name: 'a', generation: 1 }, PLAN);
  session.client = {
    request: () => Promise.reject(new RpcError(-1, 'dark', {})),
  } as Partial<ProtocolClient> as ProtocolClient;
  const mask = (text: string): string => {
    if (text === 'dark') throw new RangeError('no room');
    return text;
  };
  const route: CallRoute = {
    server: 'a',
    session: () => session,
    nextSession: () => Promise.resolve(session),
    lastFailure: () => undefined,
    retryHint: () => '',
    tools: () => [],
    turns: new Semaphore(() => 1),
  };
  const check = new CallCheck({
    publish,
    mask: () => mask,
    validator: new SchemaValidator(),
    checksArguments: true,
    coercesArguments: true,
  });
  const ports = {
    clock: createControlledClock(),
    publish,
    mask: () => mask,
    nextCall: () => 1,
    check,
    hooks: [],
    remember: () => {},
  };
  const call = { tool: 'x', args: {}, timeoutMs: 0, retryCalls: 'never', options: {} } as const;
  await expect(makeCall(ports, route, call)).rejects.toBeInstanceOf(OutcomeUnknownError);
  expect(published).toMatchObject([
    { type: 'call.started', call: 1 },
    { type: 'call.finished', call: 1, outcome: 'outcome-unknown' },
  ]);
  expect(session.calls).toBe(0);
  expect(route.turns.taken).toBe(0);
});
