/** Recordings of hours, and the clock that plays them in a moment. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replay } from '../../../src/cli/recordings/replay-command.js';
import { DEFAULT_FLAGS } from '../../../src/cli/arguments/flags.js';
import { JumpingClock } from '../../../src/testing/jumping-clock.js';
import { createRecordedServer } from '../../../src/testing/recorded-server.js';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { makeTerminal } from '../../support/fake-terminal.js';
import { MemoryLog } from '../../support/memory-log.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes, whenEmits, whenState } from '../../support/test-troupe.js';

useLeakCheck();
const troupes = useTroupes();

const HOUR_MS = 3_600_000;

/** The log of a server that is ready for `ms`, is lost, and returns. */
async function lostAfter(ms: number): Promise<string> {
  const log = new MemoryLog();
  const server = new ScriptedServer();
  const test = troupes.make({ servers: { files: inProcess(server) }, record: { target: log } });
  await passTime(test.clock, test.troupe.start());
  await test.clock.advance(ms);
  await server.die();
  await passTime(test.clock, whenState(test, 'files', 'reconnecting'));
  await passTime(test.clock, whenState(test, 'files', 'ready'));
  await passTime(test.clock, test.troupe.close());
  return log.text;
}

describe('a recording of many hours', () => {
  it('plays in a few seconds', async () => {
    const server = createRecordedServer(await lostAfter(3 * HOUR_MS), 'files');
    const troupe = createTroupe({ servers: { files: server.config }, clock: server.clock, seed: 1 });
    try {
      const isBack = whenEmits(troupe.status$, ([row]) => row?.state === 'ready' && row.generation === 2);
      await troupe.start();
      await isBack;
      expect(server.played).toBe(2);
    } finally {
      await troupe.close();
    }
  }, 20_000);

  it('is exported as a test with a longer time limit', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-fixture-'));
    try {
      const log = join(folder, 'log.jsonl');
      writeFileSync(log, await lostAfter(3 * HOUR_MS));
      const { terminal } = makeTerminal();
      await replay({ ...DEFAULT_FLAGS, exportFixture: folder }, terminal, [log]);
      expect(readFileSync(join(folder, 'files.test.mjs'), 'utf8')).toMatch(/^const PATIENCE = 6000;$/m);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, 30_000);
});

describe('a clock that jumps', () => {
  it('lets short work finish before its time limit, even after hours', async () => {
    const clock = new JumpingClock();
    for (const hours of [0, 3]) {
      await ticks(clock, hours);
      const isLate = new Promise<boolean>((resolve) => {
        const limit = clock.setTimeout(() => resolve(true), 30_000);
        setTimeout(() => {
          clock.clearTimeout(limit);
          resolve(false);
        }, 1);
      });
      expect(await isLate).toBe(false);
    }
  });
});

/** Waits in steps of five seconds. */
async function ticks(clock: JumpingClock, hours: number): Promise<void> {
  const end = clock.now() + hours * HOUR_MS;
  while (clock.now() < end) await new Promise<void>((resolve) => void clock.setTimeout(resolve, 5_000));
}
