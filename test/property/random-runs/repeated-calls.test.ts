/** If sessions are lost and recovered at any time, only safe calls act twice, and each call has one outcome. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import { TroupeError } from '../../../src/errors.js';
import type { RetryCalls } from '../../../src/index.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import { createControlledClock, type ControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents } from '../../support/event-record.js';
import { fake, FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { SILENCE, text, tool } from '../../support/scripted-server.js';
import { makeTroupe, passTime } from '../../support/test-troupe.js';

/** The annotations of the tools of the server. */
const TOOLS = {
  plain: {},
  harmless: { destructiveHint: false },
  reader: { readOnlyHint: true },
  setter: { idempotentHint: true },
} satisfies Record<string, ToolAnnotations>;

type ToolName = keyof typeof TOOLS;
type How = 'quick' | 'slow' | 'never' | 'last-words';

const MAY_ACT_TWICE: readonly ToolName[] = ['reader', 'setter'];

type Step =
  | { readonly do: 'call'; readonly tool: ToolName; readonly how: How; readonly abort: boolean }
  | { readonly do: 'lose' | 'expire' | 'refuse' | 'accept' | 'restart' | 'stop' | 'start' | 'abort' }
  | { readonly do: 'wait'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      tool: fc.constantFrom<ToolName[]>('plain', 'harmless', 'reader', 'setter'),
      how: fc.constantFrom<How[]>('quick', 'slow', 'never', 'last-words'),
      abort: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'lose' as const,
        'lose' as const,
        'expire' as const,
        'refuse' as const,
        'accept' as const,
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('restart' as const, 'stop' as const, 'start' as const, 'abort' as const),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(0, 0, 1, 10, 300, 2_000, 40_000),
    }),
  },
);

/** The outcome of one call from the view of its caller. */
interface Seen {
  readonly tool: ToolName;
  settled: number;
  outcome: string;
}

const OUTCOMES: Readonly<Record<string, string>> = {
  CALL_TIMEOUT: 'timed-out',
  CALL_ABORTED: 'aborted',
  NOT_READY: 'not-sent',
  OUTCOME_UNKNOWN: 'outcome-unknown',
};

const DEAD = { code: 'process-exited', message: 'It exited.' } as const;
const EXPIRED = { code: 'session-expired', message: 'HTTP 404' } as const;

class Run {
  readonly clock: ControlledClock = createControlledClock();
  readonly seen: Seen[] = [];
  readonly #callers = new Set<AbortController>();
  readonly #expired = new Set<number>();
  #accepts = true;
  readonly server: FakeServer = new FakeServer(
    (session) => ({
      start: async () => {
        if (!this.#accepts) throw new TransportError({ code: 'spawn-failed', message: 'down' });
      },
      send: async () => {
        if (this.#expired.has(session)) throw new TransportError(EXPIRED);
      },
    }),
    {
      tools: Object.entries(TOOLS).map(([name, annotations]) => tool(name, { annotations })),
      on: { 'tools/call': (params) => this.#act((params['arguments'] as { how: How }).how) },
    },
  );
  readonly troupe;
  readonly events;

  constructor(retryCalls: RetryCalls) {
    this.troupe = makeTroupe({
      clock: this.clock,
      seed: 7,
      retryCalls,
      policy: { backoff: [100, 500], maxAttempts: 4 },
      servers: { a: fake(this.server) },
    });
    this.events = recordEvents(this.troupe.events$);
  }

  async take(taken: Step): Promise<void> {
    const connection = this.troupe.connection('a');
    switch (taken.do) {
      case 'wait':
        return this.clock.advance(taken.ms);
      case 'call':
        return this.#call(taken);
      case 'lose':
        return this.server.transport.simulateEnd(DEAD);
      case 'expire':
        this.#expired.add(this.server.transports.length);
        return;
      case 'refuse':
      case 'accept':
        this.#accepts = taken.do === 'accept';
        return;
      case 'abort':
        for (const caller of this.#callers) caller.abort(new Error('left'));
        return;
      case 'restart':
      case 'stop':
      case 'start':
        connection?.[taken.do]().catch(() => {});
    }
  }

  /** The number of times that a call reached the server. */
  arrivals(n: number): number {
    const calls = this.server.peer.of('tools/call');
    return calls.filter(({ params }) => (params['arguments'] as { n: number }).n === n).length;
  }

  #act(how: How): unknown {
    if (how === 'never') return SILENCE;
    if (how === 'slow') return new Promise((done) => this.clock.setTimeout(() => done(text('done')), 1_000));
    if (how === 'last-words') {
      const { transport } = this.server;
      queueMicrotask(() => queueMicrotask(() => transport.simulateEnd(DEAD)));
    }
    return text('done');
  }

  #call({ tool: name, how, abort }: Extract<Step, { do: 'call' }>): void {
    const seen: Seen = { tool: name, settled: 0, outcome: 'none' };
    const n = this.seen.push(seen) - 1;
    const caller = new AbortController();
    if (abort) this.#callers.add(caller);
    const settle = (outcome: string): void => {
      seen.settled += 1;
      seen.outcome = outcome;
      this.#endExpired();
    };
    this.troupe
      .connection('a')
      ?.callTool(name, { how, n }, { signal: caller.signal, timeoutMs: 5_000, totalTimeoutMs: 12_000 })
      .then(
        () => settle('answered'),
        (error: unknown) =>
          settle(error instanceof TroupeError ? (OUTCOMES[error.code] ?? error.code) : String(error)),
      );
    this.#endExpired();
  }

  /** A transport knows that its session has expired before it reports its end. */
  #endExpired(): void {
    const { transport, transports } = this.server;
    if (!this.#expired.has(transports.length) || transport.ended !== undefined) return;
    transport.ended = EXPIRED;
    this.clock.setTimeout(() => transport.simulateEnd(EXPIRED), 1);
  }
}

function expectHonest(run: Run, retryCalls: RetryCalls): void {
  for (const [n, { tool: name, settled, outcome }] of run.seen.entries()) {
    const arrived = run.arrivals(n);
    const most = retryCalls === 'safe' && MAY_ACT_TWICE.includes(name) ? 2 : 1;
    expect({ n, settled }).toEqual({ n, settled: 1 });
    expect([...Object.values(OUTCOMES), 'answered']).toContain(outcome);
    expect(arrived, `${name} ${n}`).toBeLessThanOrEqual(most);
    if (outcome === 'not-sent') expect(arrived).toBe(0);
    if (outcome === 'answered') expect(arrived).toBeGreaterThan(0);
  }
}

/** Each sent call ends once, before the loss of its session. A call that may have acted is repeated at most once. */
function expectProvable({ events }: Run, retryCalls: RetryCalls): void {
  const started = events.of('call.started');
  const finished = new Map(events.of('call.finished').map((event) => [event.call, event]));
  expect(events.of('call.finished')).toHaveLength(started.length);
  expect([...finished.keys()].toSorted((a, b) => a - b)).toEqual(started.map(({ call }) => call));
  const repeated = started.flatMap(({ repeats }) => repeats ?? []);
  expect(new Set(repeated).size).toBe(repeated.length);
  if (retryCalls === 'never') expect(repeated).toEqual([]);
  const doubts = new Map<number, number>();
  for (const { call, repeats, generation } of started) {
    if (repeats === undefined) continue;
    const before = finished.get(repeats);
    expect(['not-sent', 'outcome-unknown']).toContain(before?.outcome);
    expect(before?.generation).toBeLessThan(generation);
    doubts.set(call, (doubts.get(repeats) ?? 0) + (before?.outcome === 'outcome-unknown' ? 1 : 0));
    expect(doubts.get(call)).toBeLessThanOrEqual(1);
  }
  for (const { generation, seq } of events.of('connection.lost')) {
    const late = [...finished.values()].filter((event) => event.generation === generation && event.seq > seq);
    expect(late).toEqual([]);
  }
}

// Loaded in advance, so that no test waits for a module while its clock stands still.
beforeAll(() => import('../../../src/servers/load-config.js'));

describe('calls over sessions that are lost and recovered at random', () => {
  useLeakCheck();
  useCrashWatch();

  it.each<RetryCalls>(['safe', 'never'])(
    'act twice only if that is harmless, and each settle once (%s)',
    async (retryCalls) => {
      let repetitions = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
          const run = new Run(retryCalls);
          await passTime(run.clock, run.troupe.start());
          for (const taken of steps) await run.take(taken);
          await run.clock.advance(60_000);
          await passTime(run.clock, run.troupe.close());
          expectHonest(run, retryCalls);
          expectProvable(run, retryCalls);
          expect(run.server.transports.every(({ isOpen }) => !isOpen)).toBe(true);
          expect(run.clock.pending.filter((ms) => ms > 1 && ms !== 1_000)).toEqual([]);
          repetitions += run.events.of('call.started').filter(({ repeats }) => repeats !== undefined).length;
        }),
        { numRuns: 150 },
      );
      if (retryCalls === 'safe') expect(repetitions).toBeGreaterThan(20);
    },
    60_000,
  );
});
