/** A recording of a troupe that signs in, is refused and renews its token: the log replays and holds no secret. */
import { describe, expect, it } from 'vitest';
import { createMemoryTokenStore } from '../../../src/auth/stores/token-store.js';
import { replayLog } from '../../../src/event-log/replay/replay-log.js';
import { MemoryLog } from '../../support/memory-log.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useAuthorizationServers } from '../../support/authorization-server.js';
import { agree, visit } from '../../support/person.js';
import { bounded, useSigningTroupes, within } from '../../support/signing-troupes.js';

useLeakCheck();
useCrashWatch();
const servers = useAuthorizationServers();
const troupes = useSigningTroupes();

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

describe('a recorded sign-in', () => {
  it('replays by the actors and by the fold, and the log holds no token, code, state or URL of the sign-in', async () => {
    const port = await servers.start();
    const store = createMemoryTokenStore();
    const log = new MemoryLog();
    const { troupe, asked, ready } = troupes.start(port.url, { store }, { names: ['a', 'b'], record: log });
    const url = new URL(await asked('a'));
    const back = new URL(await agree(url.href));
    const wrong = new URL(back);
    wrong.searchParams.set('code', 'code-of-nobody');
    expect((await visit(wrong.href)).status).toBe(400);
    expect((await visit(back.href)).status).toBe(200);
    await Promise.all([ready('a'), ready('b')]);
    port.expireAll();
    await troupe.connection('a')!.callTool('sail', {}, { signal: within() });
    const kept = await store.read({ server: port.url, client: '' });
    await bounded(troupe.close());

    const report = await replayLog(log.parts.map(bytesOf));
    expect(report).toMatchObject({ problem: undefined, divergences: [], whyNoRerun: undefined });

    const { text } = log;
    const { entries } = log.read();
    const states = entries.flatMap((entry) =>
      'to' in entry && entry.to === '$:signIn:1#1' ? JSON.stringify(entry.state) : [],
    );
    for (const state of ['reading', 'renewing', 'looking', 'waitingForPerson', 'exchanging', 'closed']) {
      expect(states.join()).toContain(state);
    }
    const secrets = [
      kept?.tokens?.access_token,
      kept?.tokens?.refresh_token,
      ...['state', 'code_challenge'].map((name) => url.searchParams.get(name)),
      back.searchParams.get('code'),
      'code-of-nobody',
      '/authorize?',
    ];
    for (const secret of secrets) {
      expect(secret).toEqual(expect.any(String));
      expect(text).not.toContain(secret);
    }
  });
});
