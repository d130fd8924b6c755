/** How a gateway is killed, and what it knows about its servers. */
import { describe, expect, it } from 'vitest';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { faulty } from '../../support/team.js';
import { AskingUpstream } from '../../support/asking-upstream.js';
import { ANSWERS_ALL, useGateways } from '../../support/gateway-rig.js';

describe('a gateway', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useGateways();

  it('that is killed waits for no server, not even one that serves a single client', async () => {
    const { gateway, client } = make({ servers: { deaf: faulty('deaf-to-shutdown') } });
    const whose = new Set<string | undefined>();
    const areReady = new Promise<void>((resolve) => {
      gateway.events$.subscribe((event) => {
        if (event.type !== 'connection.ready') return;
        whose.add(event.session);
        if (whose.size === 2) resolve();
      });
    });
    await gateway.start();
    await client('Ada', { capabilities: ANSWERS_ALL });
    await areReady;
    // The clock stands still: a wait for the server to end by itself would never end.
    const closed = gateway.close({ requestDrainMs: 0 });
    await gateway.kill();
    await closed;
    expect(gateway.troupe.status).toMatchObject([{ state: 'stopped' }]);
  });

  it('knows the names of its enabled servers before it is started', async () => {
    const servers = {
      a: new AskingUpstream().entry(),
      b: new AskingUpstream().entry(),
      off: new AskingUpstream().entry({ enabled: false }),
    };
    const { gateway } = make({ servers });
    expect(await gateway.serverNames()).toEqual(['a', 'b']);
  });

  it('for a single client knows the names of its servers only after that client has connected', async () => {
    const { gateway, client } = make({ servers: { a: new AskingUpstream().entry() }, singleClient: true });
    expect(await gateway.serverNames()).toBeUndefined();
    await client('Ada');
    expect(await gateway.serverNames()).toEqual(['a']);
  });
});
