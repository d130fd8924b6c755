/** The two OAuth cases of the fault kit, run in this process. */
import { afterEach, describe, expect, it } from 'vitest';
import { createMemoryTokenStore } from '../../../src/auth/stores/token-store.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { recordEvents } from '../../support/event-record.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { startProgram, type LocalProgram } from '../../support/local-program.js';
import { WAIT_LIMIT_MS } from '../../support/time-limit.js';

useLeakCheck();

const TOKENS = { access_token: 'old', refresh_token: 'refresh-0', token_type: 'Bearer' };
const CLIENT = { clientId: 'ferry-client' };

interface KitServer {
  readonly url: string;
  /** Number of matching requests. */
  count(request: string): Promise<number>;
}

const open: (Troupe | LocalProgram)[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await ('close' in one ? one.close() : one.stop());
});

async function startKit(mode: string): Promise<KitServer> {
  const file = 'tools/faults/kit/faulty-http.mjs';
  const program = await startProgram({ file, args: [`--mode=${mode}`, '--port=0'], ready: /"url"/ });
  open.push(program);
  const { url, control } = JSON.parse(program.line) as { url: string; control: string };
  return {
    url,
    count: async (request) => {
      const response = await fetch(`${control}seen`, { headers: { connection: 'close' } });
      const seen = (await response.json()) as { method: string; path: string }[];
      return seen.filter(({ method, path }) => `${method} ${path}` === request).length;
    },
  };
}

describe('the fault kit', () => {
  it('oauth-parallel-refresh: five connections share one refresh and are all ready.', async () => {
    const kit = await startKit('single-use-refresh');
    const store = createMemoryTokenStore([
      [{ server: kit.url, client: CLIENT.clientId }, { tokens: TOKENS }],
    ]);
    const names = Array.from({ length: 5 }, (_, index) => `kit-${index + 1}`);
    const troupe = createTroupe({
      servers: Object.fromEntries(names.map((name) => [name, { url: kit.url }])),
      auth: { store, client: CLIENT },
    });
    open.push(troupe);
    await troupe.settled({ signal: AbortSignal.timeout(WAIT_LIMIT_MS) });
    expect(troupe.status.map(({ state }) => state)).toEqual(names.map(() => 'ready'));
    const result = await troupe.connection('kit-1')!.callTool('echo', { text: 'hello 42' });
    expect(result.content).toEqual([{ type: 'text', text: 'hello 42' }]);
    expect(await kit.count('POST /token')).toBe(1);
  });

  it('oauth-invalid-grant: a rejected refresh token is deleted, and a sign-in is requested.', async () => {
    const kit = await startKit('refresh-invalid-grant');
    const owner = { server: kit.url, client: CLIENT.clientId };
    const store = createMemoryTokenStore([[owner, { tokens: TOKENS }]]);
    const troupe = createTroupe({ servers: { kit: { url: kit.url } }, auth: { store, client: CLIENT } });
    open.push(troupe);
    const events = recordEvents(troupe.events$);
    void troupe.start();
    const asked = await events.when('connection.authRequired', ({ url }) => url !== undefined);
    expect(asked.url).toMatch(/\/authorize\?response_type=code&client_id=ferry-client&/);
    expect(troupe.status[0]).toMatchObject({ substate: 'authorizing.signingIn', authUrl: asked.url });
    expect((await store.read(owner))?.tokens).toBeUndefined();
    expect(await kit.count('POST /token')).toBe(1);
    const published = JSON.stringify([events.all, troupe.status]);
    expect(published).not.toContain('refresh-0');
  });
});
