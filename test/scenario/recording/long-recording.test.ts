/** A recording in several files is one log again when it is replayed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replay } from '../../../src/cli/recordings/replay-command.js';
import { DEFAULT_FLAGS } from '../../../src/cli/arguments/flags.js';
import { replayLog } from '../../../src/event-log/replay/replay-log.js';
import { makeTerminal } from '../../support/fake-terminal.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { recordRandomRun, step } from '../../support/random-run.js';

useLeakCheck();
useCrashWatch();

const [steps = []] = fc.sample(fc.array(step, { minLength: 120, maxLength: 120 }), { numRuns: 1, seed: 12 });

async function recordParts(): Promise<readonly string[]> {
  const { parts } = await recordRandomRun(steps, { partSize: 5_000 });
  expect(parts.length).toBeGreaterThan(3);
  return parts;
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

describe('the parts of one recording', () => {
  it('are replayed one after the other, by the actors as well, without a divergence', async () => {
    const parts = await recordParts();
    const report = await replayLog(parts.map(bytesOf));
    expect(report).toMatchObject({
      divergences: [],
      problem: undefined,
      whyNoRerun: undefined,
      parts: parts.length,
    });
  });

  it('report as many failures as the same recording in one part', async () => {
    const failuresIn = async (parts: readonly string[]) => {
      const { connections } = await replayLog(parts.map(bytesOf));
      return [...connections].map(([name, { attempts, failures, failureCodes }]) => [
        name,
        { attempts, failures, failureCodes: { ...failureCodes } },
      ]);
    };
    const { parts: whole } = await recordRandomRun(steps);
    expect(whole).toHaveLength(1);
    const expected = await failuresIn(whole);
    expect(JSON.stringify(expected)).toContain('"code"');
    expect(await failuresIn(await recordParts())).toEqual(expected);
  });

  it('must follow each other: a missing part is a problem, and the parts before it are replayed', async () => {
    const parts = await recordParts();
    const report = await replayLog(parts.toSpliced(1, 1).map(bytesOf));
    expect(report.problem).toMatchObject({ code: 'corrupt', line: 1 });
    expect(report.parts).toBe(2);
    expect(report.entries).toBeGreaterThan(0);
  });
});

describe('troupe replay', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-parts-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function run(files: readonly string[]) {
    const { terminal, stdout } = makeTerminal();
    const code = await replay({ ...DEFAULT_FLAGS, json: true }, terminal, files);
    return { code, report: JSON.parse(stdout.written) as Record<string, unknown> };
  }

  it('finds the older files of a recording, and ignores those of another one', async () => {
    const parts = (await recordParts()).slice(0, 3);
    const file = join(folder, 'log.jsonl');
    const newestFirst = parts.toReversed();
    for (const [index, text] of newestFirst.entries())
      writeFileSync(index === 0 ? file : `${file}.${index}`, text);
    writeFileSync(`${file}.3`, 'something else');
    const { code, report } = await run([file]);
    expect(code).toBe(0);
    expect(report).toMatchObject({ whyNoRerun: null, divergences: [] });
    writeFileSync(`${file}.1`, parts[0] ?? '');
    expect((await run([file])).report['whyNoRerun']).toEqual(expect.any(String));
  });

  it('accepts several files in any order', async () => {
    const parts = await recordParts();
    const files = parts.map((text, index) => {
      const file = join(folder, `part-${index}`);
      writeFileSync(file, text);
      return file;
    });
    const { code, report } = await run(files.toReversed());
    expect(code).toBe(0);
    expect(report).toMatchObject({ whyNoRerun: null, divergences: [] });
  });
});
