/** The log of a computer whose clock was set back: later entries still follow earlier ones. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replay, type ReplayFlags } from '../../../src/cli/recordings/replay-command.js';
import { DEFAULT_FLAGS } from '../../../src/cli/arguments/flags.js';
import { toMoment } from '../../../src/cli/arguments/moment.js';
import { openBytes } from '../../../src/event-log/replay/open-log.js';
import { makeTerminal } from '../../support/fake-terminal.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes, whenState } from '../../support/test-troupe.js';
import { MemoryLog } from '../../support/memory-log.js';

useLeakCheck();
const troupes = useTroupes();

const HOUR = 3_600_000;

/** Ready for ten seconds, then the clock is set back by an hour, and ten seconds later the server is lost. */
async function incident(): Promise<string> {
  const record = new MemoryLog();
  const clock = createControlledClock(10 * HOUR);
  const server = new ScriptedServer();
  let setBackMs = 0;
  const test = troupes.make({
    clock: { ...clock, now: () => clock.now() - setBackMs },
    servers: { files: inProcess(server) },
    record,
  });
  await passTime(clock, test.troupe.start());
  await clock.advance(10_000);
  setBackMs = HOUR;
  await clock.advance(10_000);
  await server.die();
  await passTime(clock, whenState({ ...test, clock }, 'files', 'reconnecting'));
  await passTime(clock, whenState({ ...test, clock }, 'files', 'ready'));
  await clock.advance(10_000);
  await passTime(clock, test.troupe.close());
  return record.text;
}

describe('troupe replay of a log in which the clock was set back', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-set-back-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function run(text: string, flags: Partial<ReplayFlags>) {
    const file = join(folder, 'log.jsonl');
    writeFileSync(file, text);
    const { terminal, stdout, stderr } = makeTerminal();
    const code = await replay({ ...DEFAULT_FLAGS, ...flags }, terminal, [file]);
    return { code, stdout: stdout.written, stderr: stderr.written };
  }

  it('has a timeline that never goes back, and can stop at any moment of it', async () => {
    const text = await incident();
    const { code, stdout } = await run(text, { timeline: true });
    expect(code).toBe(0);
    const changes = [...stdout.matchAll(/^ +(\+[-\d.]+s) {2}#\d+ +files {2}(?:.* → )?(.*)$/gm)];
    const seconds = changes.map(([, time = '']) => Number(time.slice(1, -1)));
    expect(seconds).toEqual(seconds.toSorted((a, b) => a - b));
    const [, lostAt = ''] = changes.find(([, , to]) => to?.startsWith('reconnecting')) ?? [];
    expect(lostAt).toBe('+0.001s');
    for (const [at, sessions] of [
      ['+0s', 1],
      [lostAt, 2],
      ['+5s', 2],
    ] as const) {
      const there = await run(text, { at: toMoment(at) });
      expect([there.code, there.stderr]).toEqual([0, '']);
      expect(there.stdout).toContain(`files  ready.resting+current, ${sessions} attempt`);
    }
  });

  it('has a picture with every bar and mark in its place', async () => {
    const svg = join(folder, 'times.svg');
    await run(await incident(), { svg });
    const drawn = readFileSync(svg, 'utf8');
    expect(drawn).not.toMatch(/-\d+ ms/);
    const lefts = [...drawn.matchAll(/<rect class="\w+" x="([\d.]+)" y="\d+" width/g)].map(([, x]) =>
      Number(x),
    );
    const bars = lefts.slice(-8);
    expect(bars).toEqual(bars.toSorted((a, b) => a - b));
    const loss = /<rect class="reconnecting" x="([\d.]+)" [^>]*><title>/.exec(drawn)?.[1];
    expect(drawn).toMatch(
      new RegExp(`class="mark failure"[^>]*translate\\(${loss} \\d+\\)"><title>connection-lost`),
    );
  });
});

describe('an opened log in which the clock was set back', () => {
  it('finds the entry for any time', async () => {
    const log = openBytes(new TextEncoder().encode(await incident()));
    for (let entry = log.first; entry <= log.last; entry += 1) {
      expect(log.timeOf(entry)).toBeGreaterThanOrEqual(log.timeOf(entry - 1) || 0);
      expect(log.entryAt(log.timeOf(entry))).toBeGreaterThanOrEqual(entry);
      expect(log.entryAt(log.timeOf(entry) - 0.5)).toBeLessThan(entry);
    }
  });
});
