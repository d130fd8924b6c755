/** While a person or a model answers a server, the limits of a call are paused, and the server counts as alive. */
import { describe, expect, it } from 'vitest';
import { CallTimeoutError } from '../../../src/errors.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { SILENCE, silent, text } from '../../support/scripted-server.js';
import { passTime, useTroupes } from '../../support/test-troupe.js';
import { askDuringCall, FORM, NAME, PROMPT, startAsking, type Asking } from './asking-server.js';

const HOUR = 3_600_000;
const YES = { action: 'accept', content: { name: 'Ada' } } as const;

describe('a call whose server asks the user', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('waits for the answer with all its limits paused', async () => {
    const person = createGate();
    const started = createGate();
    const asking: Asking = await startAsking(
      make,
      {
        elicitation: async () => {
          started.open();
          await person.promise;
          return YES;
        },
      },
      { callTimeoutMs: 1_000 },
      askDuringCall(() => asking, 'elicitation/create', FORM),
    );
    const { troupe, clock, events, server } = asking;
    const call = troupe.callTool(NAME, {}, { totalTimeoutMs: 5_000 });
    await started.promise;
    await clock.advance(HOUR);
    expect(events.of('call.finished')).toEqual([]);
    expect(server.of('ping')).toEqual([]);
    expect(server.of('notifications/cancelled')).toEqual([]);
    person.open();
    await expect(call).resolves.toMatchObject({ content: [{ text: expect.stringContaining('Ada') }] });
    expect(events.of('server.request')).toMatchObject([
      { method: 'elicitation/create', outcome: 'answered', durationMs: HOUR, call: 1 },
    ]);
    expect(events.of('connection.lost')).toEqual([]);
  });

  it('restarts its idle limit afterwards, and continues its total limit', async () => {
    const { troupe, clock, server, ask } = await startAsking(
      make,
      { elicitation: () => YES },
      {},
      { on: { 'tools/call': silent } },
    );
    const idle = troupe.callTool(NAME, {}, { timeoutMs: 1_000 });
    const whole = troupe.callTool(NAME, {}, { timeoutMs: 0, totalTimeoutMs: 1_500 });
    for (const call of [idle, whole]) call.catch(() => {});
    await server.whenReceived('tools/call', 2);
    await clock.advance(900);
    await ask('elicitation/create', FORM);
    await clock.advance(599);
    expect(server.of('notifications/cancelled')).toEqual([]);
    await clock.advance(1);
    await expect(whole).rejects.toMatchObject({
      code: 'CALL_TIMEOUT',
      message: expect.stringContaining('1500 ms'),
    });
    await clock.advance(400);
    await expect(idle).rejects.toBeInstanceOf(CallTimeoutError);
    expect(server.of('notifications/cancelled')).toHaveLength(2);
  });

  it('stays paused until the last of several questions is answered', async () => {
    const persons = [createGate(), createGate()];
    let count = 0;
    const { troupe, clock, server, ask } = await startAsking(
      make,
      {
        elicitation: async () => {
          await persons[(count += 1) - 1]?.promise;
          return YES;
        },
      },
      {},
      { on: { 'tools/call': silent } },
    );
    const call = troupe.callTool(NAME, {}, { timeoutMs: 1_000, totalTimeoutMs: 10_000 });
    call.catch(() => {});
    await server.whenReceived('tools/call');
    const answers = [ask('elicitation/create', FORM), ask('elicitation/create', FORM)];
    await clock.advance(HOUR);
    persons[0]?.open();
    await answers[0];
    await clock.advance(HOUR);
    expect(server.of('notifications/cancelled')).toEqual([]);
    persons[1]?.open();
    await answers[1];
    await clock.advance(1_000);
    await expect(call).rejects.toBeInstanceOf(CallTimeoutError);
  });

  it('is paused even if it starts during the question', async () => {
    const person = createGate();
    const { troupe, clock, server, ask } = await startAsking(
      make,
      {
        sampling: async () => {
          await person.promise;
          return 'refused';
        },
      },
      {},
      { on: { 'tools/call': silent } },
    );
    const answer = ask('sampling/createMessage', PROMPT);
    await clock.advance(0);
    const call = troupe.callTool(NAME, {}, { timeoutMs: 1_000 });
    call.catch(() => {});
    await clock.advance(HOUR);
    expect(server.of('notifications/cancelled')).toEqual([]);
    person.open();
    await answer;
    await clock.advance(1_000);
    await expect(call).rejects.toBeInstanceOf(CallTimeoutError);
  });

  it.each([
    ['is sent', {}, 'CALL_TIMEOUT'],
    ['waits for its turn', { maxConcurrentCalls: 1 }, 'NOT_READY'],
  ])(
    'keeps the limits of a call that the handler makes for its answer, which %s',
    async (_, settings, code) => {
      const errors: unknown[] = [];
      let calls = 0;
      const asking: Asking = await startAsking(
        make,
        {
          sampling: async () => {
            await asking.troupe
              .callTool(NAME, {}, { timeoutMs: 1_000 })
              .catch((error: unknown) => errors.push(error));
            return 'refused';
          },
        },
        settings,
        {
          on: {
            'tools/call': async () => {
              calls += 1;
              if (calls > 1) return SILENCE;
              await asking.ask('sampling/createMessage', PROMPT);
              return text('done');
            },
          },
        },
      );
      await expect(passTime(asking.clock, asking.troupe.callTool(NAME))).resolves.toEqual(text('done'));
      expect(errors).toMatchObject([{ code }]);
    },
  );

  it('can still be aborted by its caller', async () => {
    const started = createGate();
    const asking: Asking = await startAsking(
      make,
      {
        elicitation: (_, { signal }) => {
          started.open();
          return new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve({ action: 'cancel' }), { once: true });
          });
        },
      },
      {},
      askDuringCall(() => asking, 'elicitation/create', FORM),
    );
    const { troupe, server, clock } = asking;
    const controller = new AbortController();
    const call = troupe.callTool(NAME, {}, { signal: controller.signal });
    await started.promise;
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: 'CALL_ABORTED' });
    await server.whenReceived('notifications/cancelled');
    server.notify('notifications/cancelled', { requestId: 1 });
    await clock.advance(0);
    expect(server.of('notifications/cancelled')).toHaveLength(1);
  });

  it('is limited again if the session is lost with the question', async () => {
    const started = createGate();
    const asking: Asking = await startAsking(
      make,
      {
        elicitation: () => {
          started.open();
          return new Promise(() => {});
        },
      },
      {},
      askDuringCall(() => asking, 'elicitation/create', FORM),
    );
    const { troupe, server, clock, events } = asking;
    const call = troupe.callTool(NAME, {}, { timeoutMs: 1_000 });
    call.catch(() => {});
    await started.promise;
    await clock.advance(HOUR);
    server.script = {};
    await server.die();
    await expect(passTime(clock, call)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(events.of('server.request')).toMatchObject([{ outcome: 'cancelled' }]);
  });
});

describe('a server that asks the user outside a call', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('is neither pinged nor stopped as idle before the answer, and is both afterwards', async () => {
    const person = createGate();
    const { clock, server, ask, troupe } = await startAsking(
      make,
      {
        elicitation: async () => {
          await person.promise;
          return YES;
        },
      },
      { idleStopMs: 100_000 },
    );
    const answer = ask('elicitation/create', FORM);
    await clock.advance(HOUR);
    expect(server.of('ping')).toEqual([]);
    expect(troupe.connection('a')?.state).toBe('ready');
    person.open();
    await answer;
    await clock.advance(60_000);
    expect(server.of('ping').length).toBeGreaterThan(0);
    await clock.advance(100_000);
    expect(troupe.connection('a')?.status.tags).toContain('dormant');
  });
});
