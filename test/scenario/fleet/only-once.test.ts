/** Servers that run once in the fleet: two hosts over one engine in memory, with a real server. */
import { describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.js';
import type { FleetEngine } from '../../../src/fleet/engine.js';
import { createMemoryEngine } from '../../../src/fleet/memory-engine.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { LEASE_MS, useOnceHosts } from '../../support/once-hosts.js';
import { createTroupe } from '../../../src/index.js';
import { createFleet } from '../../../src/fleet/stores.js';
import { createGateway } from '../../../src/gateway/gateway.js';
import { serveHttp } from '../../../src/gateway/http/serve-http.js';
import { FLEET_KEY } from '../../support/fleet-host.js';

useLeakCheck();
const rig = useOnceHosts();

/** Makes hosts that serve their gateway to each other. */
function gatewaysOf(engine: FleetEngine) {
  return async (token: string) => {
    const port = await freePort();
    const fleet = createFleet({
      engine,
      key: FLEET_KEY,
      serverLeaseMs: LEASE_MS,
      address: `http://127.0.0.1:${port}`,
    });
    const gateway = createGateway({ servers: { one: rig.entry }, startGateMs: 0, cache: false, fleet });
    const service = await serveHttp(gateway, { port, token });
    await gateway.start();
    const close = async (): Promise<void> => {
      await service.close({ gracePeriodMs: 0 });
      await gateway.close();
    };
    return { gateway, service, one: gateway.troupe.connection('one')!, close };
  };
}

type GatewayHost = Awaited<ReturnType<ReturnType<typeof gatewaysOf>>>;

const who = async ({ gateway }: GatewayHost): Promise<string> => {
  const { content } = await gateway.troupe.callTool('mcp__one__who', {});
  return (content[0] as { text: string }).text;
};

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

  it('is used by the other hosts at the host that has it, and moves with the lease', async () => {
    const host = gatewaysOf(createMemoryEngine());
    const a = await host('a');
    await a.one.ready();
    const b = await host('b');
    await b.one.ready();
    expect(b.one.status).toMatchObject({ pid: null });
    expect(await who(b)).toBe(await who(a));
    expect(rig.runs().length).toBe(1);
    const before = await who(b);
    await a.close();
    await expect.poll(() => b.one.status.pid, { timeout: LEASE_MS * 5 }).not.toBeNull();
    await b.one.ready();
    const after = await who(b);
    expect(after > before).toBe(true);
    await b.close();
    const runs = rig.runs();
    expect(runs.length).toBe(2);
    expect(runs[1]!.first).toBeGreaterThan(runs[0]!.last);
  });

  it('serves the other hosts while its host drains, until that closes', async () => {
    const host = gatewaysOf(createMemoryEngine());
    const a = await host('a');
    await a.one.ready();
    const b = await host('b');
    await b.one.ready();
    const generation = b.one.status.generation;
    a.service.drain();
    const c = await host('c');
    await c.one.ready();
    expect(await who(c)).toBe(await who(a));
    expect(await who(b)).toBe(await who(a));
    expect(b.one.status.generation).toBe(generation);
    const before = await who(a);
    const outcomes: string[] = [];
    b.gateway.troupe.events$.subscribe((event) => {
      if (event.type === 'call.finished') outcomes.push(event.outcome);
    });
    const closing = a.service.close();
    // The host that closes has done nothing with it, so it goes to the next holder.
    const asked = who(b);
    await closing;
    await a.gateway.close();
    expect((await asked) > before).toBe(true);
    expect(outcomes.at(-1)).toBe('answered');
    expect(new Set(outcomes)).toEqual(new Set(['not-sent', 'answered']));
    await Promise.all([b.close(), c.close()]);
  });
});
