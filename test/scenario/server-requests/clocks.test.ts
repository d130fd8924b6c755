/** While a person or a model answers a server, no clock of a call goes on, and the server is not taken for dead. */
import { describe, expect, it } from 'vitest';
import { CallTimeoutError } from '../../../src/errors.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { SILENCE, silent, text } from '../../support/scripted-server.js';
import { passTime, useTroupes } from '../../support/test-troupe.js';
import { callAsks, FORM, NAME, PROMPT, startAsking, type Asking } from './asking-server.js';

const HOUR = 3_600_000;
const YES = { action: 'accept', content: { name: 'Ada' } } as const;

describe('a call whose server asks a person', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('waits for the person as long as it takes, with all its limits', async () => {
    const person = createGate();
    const begun = createGate();
    const asking: Asking = await startAsking(
      make,
      {
        elicitation: async () => {
          begun.open();
          await person.promise;
          return YES;
        },
      },
      { callTimeoutMs: 1_000 },
      callAsks(() => asking, 'elicitation/create', FORM),
    );
    const { troupe, clock, events, server } = asking;
    const call = troupe.callTool(NAME, {}, { totalTimeoutMs: 5_000 });
    await begun.promise;
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

  it('has its time without a sign anew afterwards, and what was left of the whole', async () => {
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
    await expect(whole).rejects.toMatchObject({ message: expect.stringContaining('1500 ms of the whole') });
    await clock.advance(400);
    await expect(idle).rejects.toBeInstanceOf(CallTimeoutError);
    expect(server.of('notifications/cancelled')).toHaveLength(2);
  });

  it('stands still until the last of several questions is answered', async () => {
    const persons = [createGate(), createGate()];
    let asked = 0;
    const { troupe, clock, server, ask } = await startAsking(
      make,
      {
        elicitation: async () => {
          await persons[(asked += 1) - 1]?.promise;
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

  it('that begins while the person is asked for another waits as well', async () => {
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
    ['is sent', {}, 'timed out'],
    ['waits for its turn', { maxConcurrentCalls: 1 }, 'its turn did not come within 1000 ms'],
  ])(
    'and with which the answer is made %s with limits, for nobody else can end it',
    async (_, settings, why) => {
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
      expect(errors).toMatchObject([{ message: expect.stringContaining(why) }]);
    },
  );

  it('can still be given up by its caller', async () => {
    const begun = createGate();
    const asking: Asking = await startAsking(
      make,
      {
        elicitation: (_, { signal }) => {
          begun.open();
          return new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve({ action: 'cancel' }), { once: true });
          });
        },
      },
      {},
      callAsks(() => asking, 'elicitation/create', FORM),
    );
    const { troupe, server, clock } = asking;
    const controller = new AbortController();
    const call = troupe.callTool(NAME, {}, { signal: controller.signal });
    await begun.promise;
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: 'CALL_ABORTED' });
    await server.whenReceived('notifications/cancelled');
    server.notify('notifications/cancelled', { requestId: 1 });
    await clock.advance(0);
    expect(server.of('notifications/cancelled')).toHaveLength(1);
  });

  it('goes by its limits again when the session is lost with the question', async () => {
    const begun = createGate();
    const asking: Asking = await startAsking(
      make,
      {
        elicitation: () => {
          begun.open();
          return new Promise(() => {});
        },
      },
      {},
      callAsks(() => asking, 'elicitation/create', FORM),
    );
    const { troupe, server, clock, events } = asking;
    const call = troupe.callTool(NAME, {}, { timeoutMs: 1_000 });
    call.catch(() => {});
    await begun.promise;
    await clock.advance(HOUR);
    server.script = {};
    await server.die();
    await expect(passTime(clock, call)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(events.of('server.request')).toMatchObject([{ outcome: 'cancelled' }]);
  });
});

describe('a server that asks a person without a call', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('is neither pinged nor put to rest before the answer, and both as ever after it', async () => {
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
