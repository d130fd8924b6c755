/** A list from an old session after its entry was replaced: it says nothing about the new entry. */
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { bounded } from '../../support/signing-troupes.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';
import { answer, startServer, type Seen, type TestServer } from '../../support/http-server.js';

useLeakCheck();
useCrashWatch();

let server: TestServer | undefined;
let troupe: Troupe | undefined;
afterEach(async () => {
  await troupe?.close();
  await server?.close();
});

const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'two', version: '1' },
};

describe('a server whose entry is replaced while its old session lists', () => {
  it('has its own first tools accepted, not those of the old session', async () => {
    const lists: Record<string, ReturnType<typeof tool>[]> = { old: [tool('old')], new: [tool('fresh')] };
    const isAsked = createGate();
    const mayAnswer = createGate();
    const serve = async (seen: Seen, res: ServerResponse): Promise<void> => {
      const key = String(seen.headers['x-key']);
      if (seen.method !== 'POST') return void res.writeHead(405).end();
      if (seen.rpc.id === undefined) return void res.writeHead(202).end();
      if (seen.rpc.method === 'tools/list') return answer(res, seen, { tools: lists[key] });
      if (key === 'new' && seen.rpc.method === 'initialize') {
        isAsked.open();
        await mayAnswer.promise;
      }
      answer(res, seen, INITIALIZED);
    };
    const port = await startServer((seen, res) => void serve(seen, res));
    server = port;
    const entry = (key: string): Record<string, ServerConfig> => ({
      a: { type: 'http', url: port.url, headers: { 'X-Key': key } },
    });
    const made = createTroupe({ servers: entry('old'), cache: false, review: 'hold-changes' });
    troupe = made;
    await bounded(made.start());
    const reloaded = made.reload(entry('new'));
    await bounded(isAsked.promise);
    lists['old'] = [tool('old'), tool('later')];
    await bounded(made.connection('a')!.refresh());
    expect(made.tools.map((each) => each.tool)).toEqual(['old']);
    expect(made.review.held).toMatchObject([{ tool: 'later', reason: 'new' }]);
    mayAnswer.open();
    await bounded(reloaded);
    expect(made.tools.map((each) => each.tool)).toEqual(['fresh']);
    expect(made.review.held).toEqual([]);
  });
});
