/** What a start costs, in counts: on a shared machine they are all that can be compared. */
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { useLeakCheck } from '../support/leak-check.js';

const SCRIPT = fileURLToPath(new URL('./start-counts.mjs', import.meta.url));
const BUILT = new URL('../../dist/bundle/src/index.js', import.meta.url).href;

interface Counts {
  readonly files: number;
  readonly timers: number;
  readonly actors: number;
  readonly chunks: number;
  readonly tools: number;
}

async function countsOf(servers: number): Promise<Counts> {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, BUILT, String(servers)], {
    cwd: tmpdir(),
  });
  return JSON.parse(stdout) as Counts;
}

describe('a start over stdio', () => {
  useLeakCheck();
  let one: Counts;
  /** Not more than there are start slots on any machine: waiting for one takes timers. */
  let four: Counts;
  beforeAll(async () => {
    [one, four] = await Promise.all([countsOf(1), countsOf(4)]);
  });

  const perServer = (what: 'timers' | 'actors'): number => (four[what] - one[what]) / 3;

  it('lists all servers', () => {
    expect([one.tools, four.tools]).toEqual([10, 40]);
  });

  it('uses no file for a server, and few in all', () => {
    expect(four.files).toBe(one.files);
    expect(one.files).toBeLessThanOrEqual(3 + 2 * tmpdir().split('/').length);
  });

  it('loads the same files for any number of servers, and few', () => {
    expect(four.chunks).toBe(one.chunks);
    expect(one.chunks).toBeLessThanOrEqual(8);
  });

  it('spawns one actor for a server and one for each of its effects', () => {
    expect(perServer('actors')).toBe(8);
  });

  it('sets few timers for a server', () => {
    expect(perServer('timers')).toBeLessThanOrEqual(6);
  });
});
