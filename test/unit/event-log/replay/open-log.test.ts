/** Random access to any moment of a log gives the same as a replay from the start. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { connectionName } from '../../../../src/actor-system/actor-path.js';
import { stateText } from '../../../../src/event-log/replay/divergence.js';
import { LOG_FORMAT, type LogEntry } from '../../../../src/event-log/format/entry.js';
import { Fold } from '../../../../src/event-log/replay/fold.js';
import { openBytes, type OpenLog } from '../../../../src/event-log/replay/open-log.js';
import { fuzz } from '../../../support/fuzz.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { readWhole } from '../../../support/memory-log.js';
import { recordRandomRun, step } from '../../../support/random-run.js';

useLeakCheck();
useCrashWatch();

const toBytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const machinesAfter = (entries: readonly LogEntry[]): Record<string, unknown> => {
  const fold = new Fold();
  for (const entry of entries) fold.take(entry);
  return Object.fromEntries([...fold.actors].map((address) => [address, fold.stateOf(address)]));
};

describe('an opened log', () => {
  let parts: readonly string[];
  let entries: readonly LogEntry[];
  let log: OpenLog;

  beforeAll(async () => {
    const steps = fc.sample(step, { numRuns: 1_500, seed: 5 });
    ({ parts } = await recordRandomRun(steps, { partSize: 150_000 }));
    entries = parts.flatMap((text) => readWhole(text).entries);
    log = openBytes(...parts.map(toBytes));
  });

  it('contains every entry of every part, by number and by time.', () => {
    expect(parts.length).toBeGreaterThan(1);
    expect(log.problem).toBeUndefined();
    expect([log.first, log.last]).toEqual([1, entries.length]);
    expect(log.entries(1, Infinity)).toEqual(entries);
    expect(log.entries(40, 42)).toEqual(entries.slice(39, 42));
    const { at = 0 } = entries[200] ?? {};
    expect(log.timeOf(201)).toBe(at);
    expect(log.entryAt(at)).toBe(entries.findLastIndex((entry) => entry.at <= at) + 1);
    expect(log.entryAt(at - 1e9)).toBe(0);
    expect(log.connections.toSorted()).toEqual(['a/b', 'constructor', 'docs', 'files', 'web#1']);
  });

  it('gives the states of all machines after any entry, forwards, backwards and at random.', async () => {
    await fuzz(
      60,
      fc.property(fc.nat(entries.length - 1), (index) => {
        const { machines, entry } = log.at(index + 1);
        expect(entry).toEqual(entries[index]);
        const whole = machinesAfter(entries.slice(0, index + 1));
        for (const [address, folded] of machines) {
          // Machines that ended long ago are no longer in the snapshots.
          expect(folded, address).toEqual(whole[address]);
        }
        expect(machines.has('$')).toBe(true);
      }),
    );
  });

  it('gives the changes of states without a replay, the same as a replay does.', () => {
    const changes = [...log.changes()];
    let next = 0;
    const fold = new Fold();
    const states = new Map<string, string>();
    for (const entry of entries) {
      fold.take(entry);
      for (; changes[next]?.entry === entry.seq; next += 1) {
        const { server = '', to = '' } = changes[next] ?? {};
        states.set(server, to);
      }
      // In between, the machines are in the middle of a turn.
      if (entry.check === null) continue;
      const latest = new Map<string, string>();
      for (const address of fold.actors) {
        const name = connectionName(address);
        if (name !== undefined) latest.set(name, stateText(fold.stateOf(address)?.state));
      }
      expect(states).toEqual(latest);
    }
    expect(next).toBe(changes.length);
    expect(next).toBeGreaterThan(200);
  });

  it('begins changes between two entries with the state before them.', () => {
    const all = [...log.changes()];
    for (const from of [1, 30, 200, log.last, log.last + 1])
      expect([...log.changes(from, from + 50)]).toEqual(
        all.filter(({ entry }) => entry >= from && entry <= from + 50),
      );
  });

  it('is readable up to a last line that was cut off, and up to an invalid line.', () => {
    const [first = ''] = parts;
    const cut = openBytes(toBytes(first.slice(0, -20)));
    expect(cut.problem).toMatchObject({ code: 'truncated' });
    const lines = first.split('\n');
    const broken = openBytes(toBytes([...lines.slice(0, 30), 'garbage', ...lines.slice(30)].join('\n')));
    expect(broken.problem).toEqual({ code: 'corrupt', line: 31, message: expect.any(String) });
    expect(broken.last).toBe(29);
    const skipped = openBytes(toBytes(lines.toSpliced(10, 1).join('\n')));
    expect(skipped.problem).toMatchObject({ code: 'corrupt', line: 11 });
    expect(openBytes(toBytes('hello\n')).problem).toMatchObject({ code: 'not-a-log', line: 1 });
    const ofVersion = (version: number) =>
      openBytes(toBytes(first.replace(`"troupeLog":${LOG_FORMAT}`, `"troupeLog":${version}`)));
    expect(ofVersion(1)).toMatchObject({ problem: { code: 'older', line: 1 }, last: 0 });
    expect(ofVersion(9)).toMatchObject({ problem: { code: 'newer', line: 1 }, last: 0 });
    expect(openBytes(new Uint8Array()).at(1)).toEqual({ entry: undefined, machines: new Map() });
  });

  it('may have another order of fields in its entries.', () => {
    const [first = ''] = parts;
    const [header = '', ...lines] = first.trimEnd().split('\n');
    const turned = lines.map((line) =>
      JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(line) as object).toReversed())),
    );
    const other = openBytes(toBytes([header, ...turned, ''].join('\n')));
    const same = openBytes(toBytes(first));
    expect([...other.changes()]).toEqual([...same.changes()]);
    expect(other.at(200).machines).toEqual(same.at(200).machines);
  });

  it('is never an error, whatever bytes it contains.', () =>
    fuzz(
      200,
      fc.property(fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 }), (changes) => {
        const bytes = toBytes((parts[0] ?? '').slice(0, 30_000));
        for (const [index, byte] of changes) bytes[index % bytes.length] = byte;
        const opened = openBytes(bytes);
        opened.at(opened.last);
        expect([...opened.changes()].length).toBeLessThan(200);
      }),
    ));
});
