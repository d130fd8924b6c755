/** Random actions of a host and its server: every call settles once, and `close()` always resolves. */
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { createControlledClock } from '../../../src/testing/controlled-clock.js';
import { createScriptedServer } from '../../../src/testing/scripted-server.js';
import type { Answer } from '../../../src/testing/server-script.js';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents } from '../../support/event-record.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { passTime } from '../../support/test-troupe.js';
import { checkSequences } from './repeatable.js';

useLeakCheck();
useCrashWatch();

const LIMIT_MS = 90_000;
const MINUTE = 60_000;

const ANSWERS: readonly Answer[] = [
  {},
  { afterMs: 3_000 },
  { progress: 2, afterMs: 500 },
  { fault: 'silent' },
  { fault: 'crash' },
  { error: { code: -32_000, message: 'no' } },
  { garbage: 'nonsense' },
];

type Step =
  | { readonly do: 'call'; readonly abortAfterMs: number | null }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'die' | 'start' | 'stop' | 'restart' | 'retry' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      abortAfterMs: fc.constantFrom(null, null, null, 0, 700),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(0, 100, 1_000, 5_000, MINUTE),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('die', 'die', 'start', 'stop', 'restart', 'retry' as const),
    }) as fc.Arbitrary<Step>,
  },
);

interface Settled {
  times: number;
}

async function run(answers: readonly Answer[], steps: readonly Step[]): Promise<{ outcomes: string[] }> {
  const clock = createControlledClock();
  const server = createScriptedServer({ on: { 'tools/call': answers } }, { clock });
  const troupe = createTroupe({ clock, seed: 1, servers: { files: { type: 'in-process', server } } });
  const events = recordEvents(troupe.events$);
  const calls: Settled[] = [];
  await passTime(clock, troupe.start());
  for (const each of steps) {
    if (each.do === 'call') calls.push(call(each.abortAfterMs));
    else if (each.do === 'pass') await clock.advance(each.ms);
    else if (each.do === 'die') await server.die();
    else
      troupe
        .connection('files')
        ?.[each.do]()
        .catch(() => {});
  }
  await passTime(clock, troupe.close());
  await clock.advance(0);
  expect(calls.map(({ times }) => times)).toEqual(calls.map(() => 1));
  const started = events.of('call.started').map((event) => event.call);
  const finished = events.of('call.finished');
  expect(finished.map((event) => event.call).toSorted((a, b) => a - b)).toEqual(
    started.toSorted((a, b) => a - b),
  );
  expect(clock.pending).toEqual([]);
  return { outcomes: finished.map(({ outcome }) => outcome) };

  function call(abortAfterMs: number | null): Settled {
    const settled: Settled = { times: 0 };
    const abort = new AbortController();
    const timer = abortAfterMs === null ? undefined : clock.setTimeout(() => abort.abort(), abortAfterMs);
    const settle = (): void => {
      settled.times += 1;
      clock.clearTimeout(timer);
    };
    troupe.callTool('mcp__files__echo', {}, { signal: abort.signal }).then(settle, settle);
    return settled;
  }
}

// Loaded in advance, so that no test waits for a module while its clock stands still.
beforeAll(() => import('../../../src/servers/load-config.js'));

describe('a call in a random sequence of actions', () => {
  it(
    'settles once, and the troupe can be closed',
    async () => {
      const outcomes = new Set<string>();
      await checkSequences(
        { numRuns: 120 },
        fc.asyncProperty(
          fc.array(fc.constantFrom(...ANSWERS), { minLength: 1, maxLength: 6 }),
          fc.array(step, { maxLength: 25 }),
          async (answers, steps) => {
            for (const outcome of (await run(answers, steps)).outcomes) outcomes.add(outcome);
          },
        ),
      );
      expect(outcomes.size).toBeGreaterThan(3);
    },
    LIMIT_MS,
  );
});
