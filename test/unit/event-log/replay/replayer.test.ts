/** Whatever happened to recorded machines happens again when their log is replayed, and every modification is detected. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../../../src/event-log/format/entry.js';
import { replayLog } from '../../../../src/event-log/replay/replay-log.js';
import { Replayer } from '../../../../src/event-log/replay/replayer.js';
import { fuzz } from '../../../support/fuzz.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { readWhole, type MemoryLog } from '../../../support/memory-log.js';
import { recordRandomRun, step } from '../../../support/random-run.js';

useLeakCheck();
useCrashWatch();

type Read = ReturnType<typeof readWhole>;

function replay({ header, entries }: Read): Replayer {
  const replayer = new Replayer(header);
  for (const entry of entries) replayer.take(entry);
  replayer.end();
  return replayer;
}

const partsOf = (log: MemoryLog): Read[] => log.parts.map((text) => readWhole(text));

describe('a complete log', () => {
  it('is replayed to the same end by both methods, whatever happened', () =>
    fuzz(
      60,
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const log = (await recordRandomRun(steps)).read();
        const replayer = replay(log);
        expect(replayer.divergences).toEqual([]);
        expect(replayer.whyNoRerun).toBeUndefined();
      }),
    ));

  it('of the random runs contains every kind of cause, and crashed actors', async () => {
    const steps = fc.sample(step, { numRuns: 800, seed: 3 });
    const { entries } = (await recordRandomRun(steps)).read();
    const kinds = new Set(entries.map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual(['callback', 'note', 'send', 'settle', 'snapshot', 'timer']);
    const text = JSON.stringify(entries);
    for (const part of [
      '"xstate.error.actor.files"',
      '"$/files#2"',
      '"$:configuration#2"',
      '"xstate.error.actor.applyConfiguration"',
      'xstate.after.retry',
      '"check":null',
      'slot.granted',
      '"ready"',
    ]) {
      expect(text).toContain(part);
    }
  });
});

describe('a log that starts later, or continues in another part', () => {
  it('is replayed by the fold', () =>
    fuzz(
      30,
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.nat(60), async (steps, attachAfter) => {
        const log = await recordRandomRun(steps, { attachAfter, partSize: 10_000 });
        for (const [index, part] of partsOf(log).entries()) {
          const replayer = replay(part);
          expect(replayer.divergences).toEqual([]);
          if (index > 0) expect(replayer.whyNoRerun).toBeDefined();
        }
      }),
    ));
});

describe('a modified log', () => {
  const isCause = ({ kind }: LogEntry): boolean => kind !== 'snapshot' && kind !== 'note';
  /** Number of the first entry that belongs to the same turn as that one. */
  const groupOf = (entries: readonly LogEntry[], at: number): number => {
    const before = entries.slice(0, at).findLastIndex(({ check }) => check !== null);
    return before + 2;
  };
  const renumbered = (entries: readonly LogEntry[]): LogEntry[] =>
    entries.map((entry, index) => ({ ...entry, seq: index + 1 }));

  it.each<[how: string, change: (entries: LogEntry[], at: number) => LogEntry[]]>([
    ['an entry was dropped', (entries, at) => entries.toSpliced(at, 1)],
    [
      'two entries were swapped',
      (entries, at) => entries.toSpliced(at - 1, 2, entries[at]!, entries[at - 1]!),
    ],
    ['a time was changed', (entries, at) => entries.with(at, { ...entries[at]!, at: 1 })],
    [
      'a state was changed',
      (entries, at) => entries.with(at, { ...entries[at], state: 'failed' } as unknown as LogEntry),
    ],
    [
      'an event was changed',
      (entries, at) =>
        entries.with(at, { ...entries[at], event: { type: 'clock.jumped' } } as unknown as LogEntry),
    ],
  ])('diverges if %s', (_, change) =>
    fuzz(
      20,
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), fc.nat(), async (steps, pick) => {
        const { header, entries } = (await recordRandomRun(steps)).read();
        const played = entries.flatMap((entry, index) => (isCause(entry) && index > 1 ? [index] : []));
        const at = played[pick % played.length]!;
        const changed = renumbered(change(entries, at));
        const isSame = JSON.stringify(changed) === JSON.stringify(entries);
        fc.pre(!isSame);
        const replayer = replay({ header, entries: changed });
        expect(replayer.divergenceCount).toBeGreaterThan(0);
        expect(replayer.divergences[0]?.entry).toBeGreaterThanOrEqual(groupOf(entries, at - 1));
      }),
    ),
  );

  it('is detected, whichever byte of an entry was changed', async () => {
    const log = await recordRandomRun(fc.sample(step, { numRuns: 60, seed: 11 }));
    const whole = Buffer.from(log.text);
    const entries = whole.indexOf('\n') + 1;
    const places = Array.from(whole.keys()).filter((at) => at >= entries && whole[at] !== 0x0a);
    async function* altered(at: number, byte: number): AsyncGenerator<Uint8Array> {
      yield Buffer.from(whole.with(at, byte));
    }
    await fuzz(
      400,
      fc.asyncProperty(fc.constantFrom(...places), fc.nat(255), async (at, byte) => {
        fc.pre(whole[at] !== byte);
        const { problem, divergenceCount } = await replayLog(altered(at, byte));
        expect(problem !== undefined || divergenceCount > 0).toBe(true);
      }),
    );
  }, 60_000);
});
