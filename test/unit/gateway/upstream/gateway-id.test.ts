import { describe, expect, it } from 'vitest';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { createGateway, type Gateway } from '../../../../src/gateway/gateway.js';
import { createScriptedServer } from '../../../../src/testing/index.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

/** A server entry that leads to a gateway. */
const behind = (gateway: () => Gateway) => ({
  type: 'in-process' as const,
  server: { connect: async (transport: Transport) => void (await gateway().connect(transport)) },
});
const working = { type: 'in-process' as const, server: createScriptedServer() };
const policy = { maxAttempts: 1 };

describe('a gateway', () => {
  it.each(['shared', 'per-session'] as const)(
    'refuses itself as a server with isolation %s, and has the tools of the others.',
    async (isolation) => {
      const gateway: Gateway = createGateway({
        servers: { self: { ...behind(() => gateway), isolation }, working },
        policy,
      });
      try {
        const { ready, failed } = await gateway.start();
        expect(ready).toEqual(['working']);
        expect(failed.map(({ server, failure }) => [server, failure.message])).toEqual([
          ['self', expect.stringContaining('its own address is among its servers')],
        ]);
        expect(gateway.troupe.tools.map(({ name }) => name)).toEqual(['mcp__working__echo']);
      } finally {
        await gateway.close();
      }
    },
  );

  it('may be a server of another gateway.', async () => {
    const inner = createGateway({ servers: { working }, policy });
    const outer = createGateway({ servers: { inner: behind(() => inner) }, policy });
    try {
      await inner.start();
      await outer.start();
      expect(outer.troupe.tools.map(({ name }) => name)).toEqual(['mcp__inner__mcp__working__echo']);
    } finally {
      await outer.close();
      await inner.close();
    }
  });
});
