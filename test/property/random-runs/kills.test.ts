/** If servers die at any time, every call has exactly one outcome and is sent at most once. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { TroupeError } from '../../../src/errors.js';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { createControlledClock, type ControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents } from '../../support/event-record.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, SILENCE, text } from '../../support/scripted-server.js';
import { inProcess, passTime } from '../../support/test-troupe.js';

type Step =
  | {
      readonly do: 'call';
      readonly server: number;
      readonly how: 'quick' | 'slow' | 'never' | 'refused';
      readonly abort: boolean;
    }
  | {
      readonly do: 'kill' | 'refuse' | 'accept' | 'restart' | 'stop' | 'start' | 'abort';
      readonly server: number;
    }
  | { readonly do: 'wait'; readonly ms: number };

const SERVERS = 2;
const server = fc.nat(SERVERS - 1);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      server,
      how: fc.constantFrom('quick', 'slow', 'never', 'refused'),
      abort: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('kill' as const, 'refuse' as const, 'accept' as const),
      server,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('restart' as const, 'stop' as const, 'start' as const, 'abort' as const),
      server,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(0, 1, 10, 300, 2_000, 40_000),
    }),
  },
);

/** The outcome of one call from the view of its caller. */
interface Seen {
  readonly n: number;
  settled: number;
  outcome: string;
}

const OUTCOME_OF: Readonly<Record<string, string>> = {
  JSON_RPC_ERROR: 'server-error',
  CALL_TIMEOUT: 'timed-out',
  CALL_ABORTED: 'aborted',
  NOT_READY: 'not-sent',
  OUTCOME_UNKNOWN: 'outcome-unknown',
};

class Run {
  readonly clock: ControlledClock = createControlledClock();
  readonly seen: Seen[] = [];
  readonly #accepting = Array.from({ length: SERVERS }, () => true);
  readonly #callers = new Set<AbortController>();
  readonly servers = this.#accepting.map(
    (_, index) =>
      new ScriptedServer({
        beforeConnect: () => {
          if (this.#accepting[index] !== true) throw new Error('down');
        },
        on: {
          'tools/call': (params) => {
            const { how } = params['arguments'] as { how: string };
            if (how === 'never') return SILENCE;
            if (how === 'refused') throw Object.assign(new Error('no'), { code: -1 });
            if (how === 'quick') return text('done');
            return new Promise((resolve) => this.clock.setTimeout(() => resolve(text('done')), 1_000));
          },
        },
      }),
  );
  readonly troupe = createTroupe({
    clock: this.clock,
    seed: 7,
    startGateMs: 1_000,
    policy: { backoff: [100, 500], maxAttempts: 4 },
    servers: Object.fromEntries(this.servers.map((each, index) => [`s${index}`, inProcess(each)])),
  });
  readonly events = recordEvents(this.troupe.events$);

  async take(taken: Step): Promise<void> {
    if (taken.do === 'wait') return this.clock.advance(taken.ms);
    const connection = this.troupe.connection(`s${taken.server}`);
    switch (taken.do) {
      case 'call':
        this.#call(taken);
        break;
      case 'kill':
        void this.servers[taken.server]?.die();
        break;
      case 'refuse':
      case 'accept':
        this.#accepting[taken.server] = taken.do === 'accept';
        break;
      case 'abort':
        for (const caller of this.#callers) caller.abort(new Error('left'));
        break;
      case 'restart':
      case 'stop':
      case 'start':
        connection?.[taken.do]().catch(() => {});
        break;
    }
  }

  #call({ server: index, how, abort }: Extract<Step, { do: 'call' }>): void {
    const seen: Seen = { n: this.seen.length, settled: 0, outcome: 'none' };
    this.seen.push(seen);
    const caller = new AbortController();
    if (abort) this.#callers.add(caller);
    const settle = (outcome: string): void => {
      seen.settled += 1;
      seen.outcome = outcome;
    };
    this.troupe
      .connection(`s${index}`)
      ?.callTool('echo', { how, n: seen.n }, { signal: caller.signal, timeoutMs: 5_000 })
      .then(
        () => settle('answered'),
        (error: unknown) =>
          settle(error instanceof TroupeError ? (OUTCOME_OF[error.code] ?? error.code) : String(error)),
      );
  }

  /** The number of times that a call reached a server. */
  arrivals(n: number): number {
    const calls = this.servers.flatMap((each) => each.of('tools/call'));
    return calls.filter(({ params }) => (params['arguments'] as { n: number }).n === n).length;
  }
}

// Loaded in advance, so that no test waits for a module while its clock stands still.
beforeAll(() => import('../../../src/servers/load-config.js'));

describe('calls over servers that die at random', () => {
  useLeakCheck();
  useCrashWatch();

  it('each settle exactly once with the true outcome, and arrive at most once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
        const run = new Run();
        await passTime(run.clock, run.troupe.start());
        for (const taken of steps) await run.take(taken);
        await run.clock.advance(60_000);
        await passTime(run.clock, run.troupe.close());
        for (const { n, settled, outcome } of run.seen) {
          expect([n, settled]).toEqual([n, 1]);
          expect(Object.values(OUTCOME_OF).concat('answered')).toContain(outcome);
          expect(run.arrivals(n)).toBeLessThanOrEqual(1);
          if (outcome === 'not-sent') expect(run.arrivals(n)).toBe(0);
          if (outcome === 'answered' || outcome === 'server-error') expect(run.arrivals(n)).toBe(1);
        }
        const started = run.events.of('call.started').map(({ call }) => call);
        const finished = run.events.of('call.finished').map(({ call }) => call);
        expect(finished.toSorted((a, b) => a - b)).toEqual(started);
        expect(run.events.all.map(({ seq }) => seq)).toEqual(run.events.all.map((_, index) => index + 1));
        expect(run.servers.every(({ isConnected }) => !isConnected)).toBe(true);
        expect(run.clock.pending.filter((ms) => ms !== 1_000)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  }, 60_000);
});
