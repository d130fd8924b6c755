/** Servers that run once in the fleet: two hosts over one engine in memory, with a real server. */
import { describe, expect, it } from 'vitest';
import { createMemoryEngine } from '../../../src/fleet/memory-engine.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useOnceHosts } from '../../support/once-hosts.js';
import { createTroupe } from '../../../src/index.js';

useLeakCheck();
const rig = useOnceHosts();

describe('a server that runs once in the fleet', () => {
  it('runs at one host, and at the next one when that leaves', async () => {
    const engine = createMemoryEngine();
    const a = rig.host(engine);
    await a.start();
    await a.connection('one')!.ready();
    const b = rig.host(engine);
    await b.start();
    expect(b.connection('one')!.state).toBe('configuring');
    const [first] = rig.runs();
    await a.close();
    await b.connection('one')!.ready();
    await b.close();
    const runs = rig.runs();
    expect(runs.map(({ token }) => token)).toEqual([first!.token, expect.any(String)]);
    expect(runs[1]!.first).toBeGreaterThan(runs[0]!.last);
    expect(runs[1]!.token > runs[0]!.token).toBe(true);
  });

  it('fails without a fleet, and nothing is started', async () => {
    const troupe = createTroupe({ servers: { one: rig.entry }, cache: false });
    await troupe.start();
    expect(troupe.connection('one')!.status.error?.code).toBe('needs-fleet');
    await troupe.close();
    expect(() => rig.runs()).toThrow();
  });
});
