/** A client of the HTTP service that disappears in the middle of a question blocks nobody else. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, vi } from 'vitest';
import type { Isolation } from '../../../src/config/entry/server-config.js';
import { serveHttp } from '../../../src/gateway/http/serve-http.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { passTime } from '../../support/test-troupe.js';
import { AskingUpstream } from '../../support/asking-upstream.js';
import { textOf, useGateways } from '../../support/gateway-rig.js';
import { WAIT_LIMIT_MS } from '../../support/time-limit.js';

/** Real messages over a real port, with the clock of the test. */
const WITHIN = { timeout: WAIT_LIMIT_MS, interval: 20 };

describe('an HTTP client that disappears while a question waits for it', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useGateways();

  it.each<Isolation | undefined>([undefined, 'shared'])(
    'no longer delays the next client (isolation %s)',
    async (isolation) => {
      const upstream = new AskingUpstream({ isRelating: false });
      const { gateway, clock } = make({
        servers: { a: upstream.entry(isolation === undefined ? {} : { isolation }) },
        questionTimeoutMs: 0,
        sessionIdleMs: 600_000,
      });
      await gateway.start();
      const service = await serveHttp(gateway, { clock });
      const connect = async (name: string, onQuestion: () => Promise<void>): Promise<Client> => {
        const client = new Client({ name, version: '1' }, { capabilities: { elicitation: {} } });
        client.setRequestHandler(ElicitRequestSchema, async () => {
          await onQuestion();
          return { action: 'accept', content: { name } };
        });
        await client.connect(new StreamableHTTPClientTransport(new URL(service.url)));
        return client;
      };
      const ask = (client: Client, name: string): Promise<string> =>
        client
          .callTool({ name: 'mcp__a__ask', arguments: { for: name } })
          .then((result) => textOf(result as CallToolResult));
      try {
        const isAsked = createGate();
        const ada = await connect('Ada', () => {
          isAsked.open();
          return new Promise(() => {});
        });
        const bob = await connect('Bob', async () => {});
        const hers = ask(ada, 'Ada');
        hers.catch(() => {});
        await isAsked.promise;
        // Her client is connected, so she may think for as long as she likes.
        await clock.advance(300_000);
        const his = ask(bob, 'Bob');
        await bob.ping();
        const answers: string[] = [];
        await ada.close();
        void his.then((answer) => answers.push(answer));
        await vi.waitFor(async () => {
          await clock.advance(5_000);
          expect(answers).toHaveLength(1);
        }, WITHIN);
        expect(answers[0]).toContain('"name":"Bob"');
        // Her session ends like any other idle session.
        await vi.waitFor(async () => {
          await clock.advance(60_000);
          await bob.ping();
          expect(service.sessions).toBe(1);
        }, WITHIN);
        await bob.close();
      } finally {
        await passTime(clock, service.close({ gracePeriodMs: 0 }));
      }
    },
    30_000,
  );
});
