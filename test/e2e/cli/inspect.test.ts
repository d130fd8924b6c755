/** `up --inspect` and `inspect` in separate processes, one of which is killed. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SAMPLE_LINES, toBytes } from '../../support/sample-log.js';
import { PageClient } from '../../support/page-client.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { EVERYTHING, useTeam } from '../../support/team.js';
import { runTroupe, TroupeProcess } from '../../support/troupe-process.js';

useLeakCheck();
const team = useTeam();

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/#[\w-]+/;

const started: TroupeProcess[] = [];
let runtime: string;
let env: Readonly<Record<string, string>>;
beforeEach(() => {
  runtime = mkdtempSync(join(tmpdir(), 'troupe-runtime-'));
  env = { XDG_RUNTIME_DIR: runtime };
});
afterEach(async () => {
  for (const up of started.splice(0)) {
    up.signal('SIGKILL');
    await up.finished();
  }
  rmSync(runtime, { recursive: true });
});

async function startUp(): Promise<{ up: TroupeProcess; url: string }> {
  const config = team().write('inspected.json', { everything: EVERYTHING });
  const up = TroupeProcess.start(['up', '--inspect', '--config', config], { env });
  started.push(up);
  await up.saw(ADDRESS, 'stderr');
  await up.saw(/everything.*ready/);
  return { up, url: ADDRESS.exec(up.stderr)?.[0] ?? '' };
}

describe('an inspection of another process', () => {
  it('is found, shows events, accepts commands, and ends with the process.', async () => {
    const { up, url } = await startUp();
    const found = await runTroupe(['inspect', '--json'], { env });
    expect([found.code, JSON.parse(found.stdout)]).toEqual([0, { url }]);
    const page = new PageClient(url);
    const stream = await page.watch();
    await stream.until((seen) => seen.of('status').at(-1)?.rows[0]?.state === 'ready');
    expect((await page.command('everything', 'connection.restart')).body).toBe('{"accepted":true}');
    await stream.until((seen) => seen.log.includes('xstate.done.actor.readTools'));
    up.signal('SIGINT');
    expect(await up.finished()).toMatchObject({ code: 0 });
    await stream.until(({ isOver }) => isOver);
    expect(stream.messages.at(-1)).toMatchObject({ kind: 'end' });
    expect(readdirSync(join(runtime, 'troupe'))).toEqual([]);
  });

  it('needs a choice if several processes run, and a killed one is not offered.', async () => {
    const [first, second] = await Promise.all([startUp(), startUp()]);
    const several = await runTroupe(['inspect'], { env });
    expect(several.code).toBe(2);
    expect(several.stderr).toMatch(/Several are running; choose one with --pid: \d+ \(.*\), \d+ \(/);
    const pids = [...several.stderr.matchAll(/[:,] (\d+) \(/g)].map(([, pid]) => pid ?? '');
    const chosen = await Promise.all(
      pids.map((pid) => runTroupe(['inspect', '--pid', pid, '--json'], { env })),
    );
    expect(chosen.map(({ stdout }) => (JSON.parse(stdout) as { url: string }).url).toSorted()).toEqual(
      [first.url, second.url].toSorted(),
    );
    first.up.signal('SIGKILL');
    await first.up.finished();
    const left = await runTroupe(['inspect', '--json'], { env });
    expect(JSON.parse(left.stdout)).toEqual({ url: second.url });
    expect(readdirSync(join(runtime, 'troupe'))).toHaveLength(2);
    second.up.signal('SIGTERM');
    await second.up.finished();
  });

  it('of a log ends with Ctrl-C.', async () => {
    const log = join(runtime, 'log.jsonl');
    writeFileSync(log, toBytes(SAMPLE_LINES));
    const inspect = TroupeProcess.start(['inspect', log], { env });
    await inspect.saw(ADDRESS);
    inspect.signal('SIGINT');
    expect(await inspect.finished()).toMatchObject({ code: 0, stderr: 'troupe: Ctrl-C stops.\n' });
    expect(readdirSync(join(runtime, 'troupe'))).toEqual([]);
  });
});
