/** Servers that do anything: a connection becomes ready or fails with a cause, calls settle once, closing leaves nothing. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { TroupeError } from '../../../src/errors.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents } from '../../support/event-record.js';
import { fake, FakeServer } from '../../support/fake-server.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { refuse, silent, type Handler } from '../../support/scripted-server.js';
import { makeTroupe, passTime } from '../../support/test-troupe.js';
import { id, json, message, text } from '../../support/arbitraries.js';
import { fuzz } from '../../support/fuzz.js';

useLeakCheck();
useCrashWatch();
beforeAll(() =>
  Promise.all([
    import('../../../src/servers/load-config.js'),
    import('../../../src/protocol/session-client.js'),
  ]),
);

const METHODS = ['initialize', 'tools/list', 'tools/call', 'ping', 'resources/list'] as const;
/** Longer than all limits, pauses and delays of the policy below together. */
const LONG_ENOUGH_MS = 400_000;

type Opening = 'opens' | 'fails' | 'hangs';
type Ending = 'ends' | 'hangs';

type Step =
  | { readonly do: 'send'; readonly message: unknown }
  | {
      readonly do: 'answer';
      readonly method: (typeof METHODS)[number];
      readonly handler: Handler | undefined;
    }
  | { readonly do: 'lose'; readonly id: unknown }
  | { readonly do: 'log'; readonly line: string }
  | { readonly do: 'open'; readonly as: Opening }
  | { readonly do: 'end'; readonly as: Ending }
  | { readonly do: 'die' | 'call' | 'retry' | 'restart' | 'refresh' | 'stop' | 'start' }
  | { readonly do: 'wait'; readonly ms: number };

const handler: fc.Arbitrary<Handler | undefined> = fc.oneof(
  { weight: 2, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant(silent) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(-32601, -1, 0), text).map(([code, why]) => refuse(code, why)),
  },
  {
    weight: 3,
    arbitrary: json.map(
      (result): Handler =>
        () =>
          result,
    ),
  },
  { weight: 2, arbitrary: fc.array(json).map((tools): Handler => () => ({ tools, nextCursor: 'again' })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(json, json, json)
      .map(([capabilities, serverInfo, protocolVersion]): Handler => () => ({
        capabilities,
        serverInfo,
        protocolVersion,
      })),
  },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('send' as const), message }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      method: fc.constantFrom(...METHODS),
      handler,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const), id }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('log' as const), line: text }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('open' as const),
      as: fc.constantFrom('opens', 'fails', 'hangs'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('end' as const), as: fc.constantFrom('ends', 'hangs') }),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Step>({ do: 'die' }, { do: 'retry' }, { do: 'restart' }, { do: 'refresh' }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ do: 'stop' }, { do: 'start' }) },
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'call' }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 300, 2_000, 40_000) }),
  },
);

class Run {
  readonly clock = createControlledClock();
  opening: Opening = 'opens';
  ending: Ending = 'ends';
  readonly #healed = createGate();
  readonly server = new FakeServer(() => {
    const closed = createGate<never>();
    return {
      start: () => this.#open(closed.promise),
      close: async () => {
        closed.fail(new TransportError({ code: 'connection-lost', message: 'Closed meanwhile.' }));
        if (this.ending === 'hangs') await this.#healed.promise;
      },
    };
  });
  readonly neighbour = new FakeServer();
  readonly troupe = makeTroupe({
    clock: this.clock,
    seed: 3,
    policy: { backoff: [100, 500], maxAttempts: 3, intensity: { restarts: 10, periodMs: 30_000 } },
    servers: { wild: fake(this.server, { callTimeoutMs: 20_000 }), calm: fake(this.neighbour) },
  });
  readonly events = recordEvents(this.troupe.events$);
  /** How often each call settled, and its error. */
  readonly calls: { settled: number; error: unknown }[] = [];

  async take(taken: Step): Promise<void> {
    const { transports, peer } = this.server;
    const transport = transports.at(-1)?.isOpen === true ? transports.at(-1) : undefined;
    switch (taken.do) {
      case 'send':
        return transport?.simulateMessage(JSON.parse(JSON.stringify(taken.message) ?? 'null'));
      case 'answer':
        peer.script = {
          capabilities: { tools: {}, resources: {} },
          on: Object.fromEntries(
            Object.entries({ ...peer.script.on, [taken.method]: taken.handler }).filter(
              ([, each]) => each !== undefined,
            ),
          ) as Record<string, Handler>,
        };
        return;
      case 'lose':
        return transport?.simulateLost(taken.id as never);
      case 'log':
        return transport?.simulateStderr(taken.line);
      case 'open':
        this.opening = taken.as;
        return;
      case 'end':
        this.ending = taken.as;
        return;
      case 'die':
        return transport?.simulateEnd();
      case 'wait':
        return this.clock.advance(taken.ms);
      case 'call':
        return this.#call();
      case 'retry':
      case 'restart':
      case 'refresh':
      case 'stop':
      case 'start':
        this.troupe
          .connection('wild')
          ?.[taken.do]()
          .catch((error: unknown) => expect(error).toBeInstanceOf(TroupeError));
    }
  }

  /** Makes the server work correctly from now on. */
  heal(): void {
    this.opening = 'opens';
    this.ending = 'ends';
    this.server.peer.script = {};
    this.#healed.open();
  }

  #call(): void {
    const connection = this.troupe.connection('wild');
    if (connection === undefined) return;
    const call = { settled: 0, error: undefined as unknown };
    this.calls.push(call);
    const settle = (error: unknown): void => {
      call.settled += 1;
      call.error = error;
    };
    const name = this.troupe.tools.find(({ server }) => server === 'wild')?.tool ?? 'echo';
    connection.callTool(name).then(() => settle(undefined), settle);
  }

  async #open(closed: Promise<never>): Promise<void> {
    if (this.opening === 'hangs') return closed;
    if (this.opening === 'fails')
      throw new TransportError({ code: 'spawn-failed', message: 'No such luck.' });
  }
}

describe('a troupe with a hostile server', () => {
  it(
    'has a definite state, settles every call once, recovers when the server does, and closes',
    () =>
      fuzz(
        40,
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
          const run = new Run();
          const starting = passTime(run.clock, run.troupe.start());
          for (const taken of steps) await run.take(taken);
          await starting;
          await run.clock.advance(LONG_ENOUGH_MS);
          const { wild, calm } = Object.fromEntries(run.troupe.status.map((row) => [row.server, row]));
          expect(['ready', 'failed', 'stopped']).toContain(wild?.state);
          if (wild?.state === 'failed')
            expect(wild.error).toMatchObject({
              code: expect.stringMatching(/./),
              message: expect.stringMatching(/./),
            });
          expect(calm).toMatchObject({ state: 'ready', generation: 1 });

          run.heal();
          const connection = run.troupe.connection('wild');
          if (wild?.state === 'failed') await passTime(run.clock, connection!.retry());
          if (wild?.state === 'stopped') await passTime(run.clock, connection!.start());
          if (wild?.state === 'ready') await passTime(run.clock, connection!.restart());
          expect(connection?.state).toBe('ready');
          await expect(connection?.callTool('echo')).resolves.toMatchObject({
            content: [{ text: 'echo {}' }],
          });

          await passTime(run.clock, run.troupe.close());
          for (const { settled, error } of run.calls) {
            expect(settled).toBe(1);
            if (error !== undefined) expect(error).toBeInstanceOf(TroupeError);
          }
          expect(run.server.transports.every(({ isOpen }) => !isOpen)).toBe(true);
          expect(run.clock.pending).toEqual([]);
        }),
      ),
    60_000,
  );
});
