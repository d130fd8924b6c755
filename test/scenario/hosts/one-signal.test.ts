/** A host has one signal for its own end, and passes it to everything that it waits for. */
import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';

const SERVERS = Array.from({ length: 20 }, (_, index) => `s${index}`);

describe('one signal for everything that a host waits for', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();
  const warnings: string[] = [];
  const record = ({ message }: Error): void => void warnings.push(message);
  beforeEach(() => void process.on('warning', record));
  afterEach(() => {
    process.off('warning', record);
    warnings.length = 0;
  });

  it('causes no leak warning, and keeps no listener', async () => {
    const silent = SERVERS.map((name) => [
      name,
      inProcess(new ScriptedServer({ start: { fault: 'silent' } })),
    ]);
    const { troupe, clock } = make({ servers: Object.fromEntries(silent) });
    const host = new AbortController();
    const { signal } = host;
    const starting = troupe.start({ signal });
    await clock.advance(1_000);
    const connections = SERVERS.flatMap((name) => troupe.connection(name) ?? []);
    const waits = connections.flatMap((connection) => [
      troupe.start({ signal }),
      troupe.settled({ signal }),
      troupe.reload(undefined, { signal }),
      connection.ready({ signal }),
      connection.start({ signal }),
      connection.subscribe('file:///x', { signal }),
      connection.callTool('echo', {}, { signal }),
    ]);
    const ends = Promise.allSettled([starting, ...waits]);
    await clock.advance(1_000);
    expect(warnings).toEqual([]);
    const reason = new Error('the host ends');
    host.abort(reason);
    const errors = (await ends).map((end) => (end.status === 'rejected' ? (end.reason as Error) : undefined));
    expect(errors.map((error) => error === reason || error?.cause === reason)).toEqual(
      errors.map(() => true),
    );
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await turn();
    expect(warnings).toEqual([]);
    await passTime(clock, troupe.close());
  });
});
