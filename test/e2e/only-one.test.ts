/** A short round of `tools/chaos/only-one.mjs` against a real Redis, and the judgement of its beats. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { judge, runsOf } from '../../tools/chaos/hosts/beats.mjs';
import { describeEngine } from '../support/engine-servers.js';
import { useLeakCheck } from '../support/leak-check.js';

useLeakCheck();

const MAIN = fileURLToPath(new URL('../../tools/chaos/only-one.mjs', import.meta.url));
const LIMIT_MS = 120_000;

const beats = (...rows: readonly [token: string, pid: number, ms: number][]): string =>
  rows.map(([token, pid, ms]) => `${token} ${pid} ${ms * 1e6 + 1e12}\n`).join('');

it('the judgement finds two servers that run together, and tokens that shrink', () => {
  const judged = (text: string) => judge(runsOf(text), 0);
  expect(judged(beats(['1', 10, 0], ['1', 10, 50], ['2', 11, 80], ['2', 11, 90]))).toEqual({
    overlaps: 0,
    togetherMs: 0,
    shrunk: 0,
    gapsMs: [30],
  });
  expect(judged(beats(['1', 10, 0], ['2', 11, 30], ['1', 10, 50], ['2', 11, 90]))).toMatchObject({
    overlaps: 1,
    togetherMs: 20,
  });
  expect(judged(beats(['2', 10, 0], ['1', 11, 30]))).toMatchObject({ overlaps: 0, shrunk: 1 });
});

describeEngine('redis', 'a server that runs once', () => {
  it(
    'runs at one host at a time, even if the host that has it is frozen',
    async () => {
      const args = ['--rounds', '1', '--seed', '5', '--faults', 'host frozen', '--json'];
      const child = spawn(process.execPath, [MAIN, ...args], {
        stdio: ['ignore', 'pipe', 'inherit'],
        timeout: LIMIT_MS,
      });
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
      const [code] = await once(child, 'close');
      const { passed, results } = JSON.parse(text) as { passed: boolean; results: { handedOn: number }[] };
      expect({ code, passed }).toEqual({ code: 0, passed: true });
      for (const { handedOn } of results) expect(handedOn).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
});
