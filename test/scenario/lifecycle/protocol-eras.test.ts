/** Servers of both eras, and servers that get them wrong: which version is spoken in the end, and what a call gives. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMemoryCatalogStore } from '../../../src/catalog/cache-store.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import type { ServerSettings } from '../../../src/config/entry/server-config.js';
import { casePeer, ERA_CASES, serveCase, type EraCase } from '../../support/era-cases.js';
import { FakeServer, fakeProgram } from '../../support/fake-server.js';
import { startServer } from '../../support/http-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { passTime, useTroupes } from '../../support/test-troupe.js';

useLeakCheck();
const { make } = useTroupes();

const POLICY = { maxAttempts: 1 };
const HANDLERS = { roots: () => [] };

/** The version, or the code of the failure. */
function outcomeOf(troupe: Troupe): string | undefined {
  const { protocolVersion, error: failure } = troupe.connection('a')!.status;
  return failure?.code ?? protocolVersion ?? undefined;
}

async function callOf(troupe: Troupe): Promise<string> {
  if (troupe.tools.length === 0) return 'none';
  try {
    const { content } = await troupe.callTool('mcp__a__t', {});
    return (content[0] as { text: string }).text;
  } catch (error) {
    return (error as Error).name;
  }
}

function expectedCall({ call }: EraCase, version: string): string {
  return call ?? (version === '2025-11-25' ? 'old' : 'fine');
}

const isVersion = (outcome: string): boolean => /^\d/.test(outcome);

/** Every case under every setting that says what must come of it. */
function trialsOf(carrier: 'stdio' | 'http') {
  return Object.entries(ERA_CASES).flatMap(([name, each]) =>
    (['auto', 'new'] as const).flatMap((protocol) => {
      const overHttp = protocol === 'auto' && carrier === 'http' ? each.autoOverHttp : undefined;
      const outcome = overHttp ?? each[protocol];
      return outcome === undefined ? [] : [[name, protocol, outcome, each] as const];
    }),
  );
}

describe('a program', () => {
  it.each(trialsOf('stdio').filter(([, , , { isHttp }]) => isHttp !== true))(
    '%s, asked by %s, leads to %s',
    async (_, protocol, outcome, each) => {
      const asked: string[] = [];
      const server = new FakeServer(() => ({ kind: 'stdio', peer: casePeer(each.plan, asked) }));
      const test = make({
        servers: { a: fakeProgram(server, { protocol, policy: POLICY } satisfies ServerSettings) },
        handlers: HANDLERS,
        cache: false,
      });
      await passTime(test.clock, test.troupe.start());
      expect(outcomeOf(test.troupe)).toBe(outcome);
      if (isVersion(outcome)) {
        expect(await passTime(test.clock, callOf(test.troupe))).toBe(expectedCall(each, outcome));
      }
      // A server that works in the old era is asked nothing else.
      if (outcome === '2025-11-25') expect(asked).not.toContain('server/discover');
      if (protocol === 'new') expect(asked).not.toContain('initialize');
      expect(server.transports).toHaveLength(1);
    },
  );
});

describe('a remote server', () => {
  it.each(trialsOf('http').filter(([name]) => name !== 'old, silent' && name !== 'listen, mute'))(
    '%s, asked by %s, leads to %s',
    async (_, protocol, outcome, each) => {
      const server = await startServer(serveCase(each.plan));
      const entry = { url: server.url, listen: false, protocol, policy: POLICY } as const;
      const troupe = createTroupe({ servers: { a: entry }, handlers: HANDLERS, cache: false });
      onTestFinished(async () => {
        await troupe.close();
        await server.close();
      });
      await troupe.start();
      expect(outcomeOf(troupe)).toBe(outcome);
      if (isVersion(outcome)) expect(await callOf(troupe)).toBe(expectedCall(each, outcome));
      const asked = server.seen.map(({ rpc }) => rpc.method);
      const times = (question: string): number => asked.filter((each) => each === question).length;
      if (outcome === '2025-11-25') expect([times('server/discover'), times('initialize')]).toEqual([1, 1]);
      if (outcome === '2026-07-28' || protocol === 'new') expect(times('initialize')).toBe(0);
      expect(server.seen.filter(({ method }) => method === 'GET')).toEqual([]);
    },
  );
});

describe('what a server speaks', () => {
  it.each([
    ['old, -32601', ['initialize', 'initialize'], 1],
    ['new', [], 2],
  ])(
    'is known to the next process, which does not ask the other era first: %s',
    async (name, opened, discovered) => {
      const asked: string[] = [];
      const serve = serveCase(ERA_CASES[name]!.plan);
      const server = await startServer((seen, res) => {
        if (seen.rpc.method !== undefined) asked.push(seen.rpc.method);
        serve(seen, res);
      });
      onTestFinished(() => server.close());
      const cache = createMemoryCatalogStore();
      for (let run = 1; run <= 2; run += 1) {
        const entry = { url: server.url, listen: false, policy: POLICY } as const;
        await using troupe = createTroupe({ servers: { a: entry }, handlers: HANDLERS, cache });
        await troupe.start();
        expect(troupe.connection('a')!.state).toBe('ready');
      }
      const of = (method: string): string[] => asked.filter((each) => each === method);
      expect(of('initialize')).toEqual(opened);
      expect(of('server/discover')).toHaveLength(discovered);
    },
  );
});
