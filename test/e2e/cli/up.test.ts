import { describe, expect, it } from 'vitest';
import type { LifecycleEvent } from '../../../src/lifecycle/event.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { EVERYTHING, faulty, MISSING, useTeam } from '../../support/team.js';
import { TroupeProcess } from '../../support/troupe-process.js';

useLeakCheck();
const team = useTeam();

const mixed = (): string => team().write('mixed.json', { everything: EVERYTHING, missing: MISSING });

function eventsOf(stdout: string): LifecycleEvent[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LifecycleEvent);
}

describe('troupe up', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'keeps the servers alive until %s, and then exits with 0.',
    async (signal) => {
      const up = TroupeProcess.start(['up', '--config', mixed()]);
      await up.saw(/ everything ready, \d+ tools\n/);
      await up.saw(/ missing failed: command-not-found: /);
      up.signal(signal);
      const { code, stdout, stderr } = await up.finished();
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(/ everything stopped \(close\)\n/);
      for (const line of stdout.trimEnd().split('\n')) {
        expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (everything|missing) /);
      }
    },
  );

  it('keeps running even if every server failed, because the user may repair the cause.', async () => {
    const up = TroupeProcess.start(['up', '--json', '--add', 'missing=no-such-command']);
    await up.saw(/"to":"failed","substate":"permanent\.waiting"/);
    expect(await up.endsWithin(500)).toBe(false);
    up.signal('SIGINT');
    expect(await up.finished()).toMatchObject({ code: 0 });
  });

  it('prints every event as a line of JSON, including the last one.', async () => {
    const up = TroupeProcess.start(['up', '--json', '--config', mixed()]);
    await up.saw(/"type":"connection.ready"/);
    await up.saw(/"type":"connection.failed"/);
    up.signal('SIGINT');
    const { code, stdout, stderr } = await up.finished();
    expect([code, stderr]).toEqual([0, '']);
    const events = eventsOf(stdout);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)).toMatchObject({ type: 'manager.stopped' });
  });

  it('stops faster after the second Ctrl-C.', async () => {
    const config = team().write('deaf.json', {
      deaf: { ...faulty('deaf-to-shutdown'), policy: { stop: { stdinEndMs: 12_000 } } },
    });
    const up = TroupeProcess.start(['up', '--verbose', '--config', config]);
    await up.saw(/ deaf ready, /);
    up.signal('SIGINT');
    await up.saw(/ deaf shuttingDown \(closing\+ending\)\n/, 'stderr');
    await up.signalAgain('SIGINT');
    const { code, signal, stdout } = await up.finished();
    expect([code, signal]).toEqual([0, null]);
    expect(timeOf('deaf stopped', stdout) - timeOf('deaf ready', stdout)).toBeLessThan(10_000);
  });

  it('exits quietly when the reader of its output is gone.', async () => {
    const up = TroupeProcess.start(['up', '--json', '--config', mixed()]);
    await up.saw(/"type":"connection.added"/);
    up.hangUp();
    expect(await up.finished()).toMatchObject({ code: 0, signal: null, stderr: '' });
  });
});

function timeOf(what: string, stdout: string): number {
  return Date.parse(new RegExp(`^(\\S+) ${what}`, 'm').exec(stdout)?.[1] ?? '');
}
