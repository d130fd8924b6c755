import { expect, it } from 'vitest';
import { CallCheck } from '../../../src/calls/call-check.js';
import type { CallRoute } from '../../../src/calls/call-route.js';
import { Semaphore } from '../../../src/async/semaphore.js';
import { makeCall } from '../../../src/calls/call.js';
import { OutcomeUnknownError } from '../../../src/errors.js';
import type { LifecycleEventBody } from '../../../src/lifecycle/event.js';
import { RequestLostError, RpcError, type ProtocolClient } from '../../../src/protocol/protocol-client.js';
import { taskIn, type Task } from '../../../src/protocol/tasks.js';
import type { LaunchPlan } from '../../../src/sessions/launch-plans.js';
import { Session } from '../../../src/sessions/sessions.js';
import { SchemaValidator } from '../../../src/schemas/schema-validator.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useLeakCheck } from '../../support/leak-check.js';

const PLAN = { config: { command: 'server' }, cacheKey: undefined, reviewed: undefined, folder: '/' };

useLeakCheck();

/** A route that leads to these sessions, one after the other. */
function begin(sessions: readonly Session[], mask = (text: string): string => text) {
  const published: LifecycleEventBody[] = [];
  const publish = (event: LifecycleEventBody): void => void published.push(event);
  const coming = [...sessions];
  const next = (): Session => coming.shift() as Session;
  const route: CallRoute = {
    server: 'a',
    session: () => (coming.length === sessions.length ? next() : undefined),
    nextSession: () => Promise.resolve(next()),
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
  return { route, published, call: () => makeCall(ports, route, call) };
}

function sessionWith(client: Partial<ProtocolClient>, plan: LaunchPlan = PLAN, generation = 1): Session {
  const session = new Session({ name: 'a', generation }, plan);
  session.client = client as ProtocolClient;
  return session;
}

it('An attempt whose error cannot be read is published as finished, with an unknown outcome.', async () => {
  const session = sessionWith({ request: () => Promise.reject(new RpcError(-1, 'dark', {})) });
  const { call, published, route } = begin([session], (text) => {
    if (text === 'dark') throw new RangeError('no room');
    return text;
  });
  await expect(call()).rejects.toBeInstanceOf(OutcomeUnknownError);
  expect(published).toMatchObject([
    { type: 'call.started', call: 1 },
    { type: 'call.finished', call: 1, outcome: 'outcome-unknown' },
  ]);
  expect(session.calls).toBe(0);
  expect(route.turns.taken).toBe(0);
});

it.each([
  ['of the same server', PLAN, 'done'],
  ['of another server', { ...PLAN, config: { command: 'other' } }, 'OUTCOME_UNKNOWN'],
])('A call that became a task goes on only over a session %s.', async (_, plan, expected) => {
  const task = taskIn({ taskId: 't' }, 0);
  const first = sessionWith({
    follow: () => Promise.reject(new Error('It is lost.')),
    request: (_method, _params, options) => {
      options?.watcher?.begun(task);
      return Promise.reject(new RequestLostError({ code: 'connection-lost', message: 'It broke.' }, true));
    },
  });
  const followed: Task[] = [];
  const client: Partial<ProtocolClient> = {
    request: () => Promise.reject(new Error('It is not sent again.')),
    follow: (one) => {
      followed.push(one);
      return Promise.resolve({ content: [{ type: 'text', text: 'done' }] });
    },
  };
  const { call } = begin([first, sessionWith(client, plan, 2)]);
  const outcome = await call().then(
    ({ content }) => (content[0] as { text: string }).text,
    (error: unknown) => (error as OutcomeUnknownError).code,
  );
  expect(outcome).toBe(expected);
  expect(followed).toEqual(expected === 'done' ? [task] : []);
});
