/** One account without a troupe: the events its chart gets, and the outcome for waiting connections. */
import { describe, expect, it } from 'vitest';
import type { AuthSession } from '../../../../src/auth/account/account.js';
import { ownAccount } from '../../../../src/auth/account/make-account.js';
import { createMemoryTokenStore, type TokenStore } from '../../../../src/auth/stores/token-store.js';
import { NumberedClock } from '../../../../src/actor-system/numbered-clock.js';
import { systemClock } from '../../../../src/ports.js';
import { RootSupervisor, type RootCrash } from '../../../../src/actor-system/root-actors.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { useAuthorizationServers } from '../../../support/authorization-server.js';
import { signInAt } from '../../../support/person.js';
import { bounded, within } from '../../../support/signing-troupes.js';

useLeakCheck();
useCrashWatch();
const servers = useAuthorizationServers();

async function open(url: string, store: TokenStore = createMemoryTokenStore()) {
  const crashes: RootCrash[] = [];
  const roots = new RootSupervisor(new NumberedClock(systemClock), (crash) => crashes.push(crash));
  const account = await ownAccount({ name: 'port', url }, { store }, undefined, {
    clock: systemClock,
    cwd: '.',
    diagnose: () => {},
    roots,
    id: 'signIn:1',
  });
  const counts = { events: 0 };
  const kill = (): void => roots.ref('signIn:1')?.send(null);
  roots.ref('signIn:1')?.system.inspect(({ type }) => {
    if (type === '@xstate.event') counts.events += 1;
  });
  return { account, roots, crashes, counts, kill };
}

/** Waits for a sign-in; `asked` resolves with its URL. */
function waitAt(account: AuthSession, signal = within()) {
  let resolveUrl: (url: string | undefined) => void;
  const asked = new Promise<string | undefined>((resolve) => (resolveUrl = resolve));
  const done = account.signIn((url) => resolveUrl(url), signal);
  done.catch(() => {});
  return {
    get asked() {
      return bounded(asked);
    },
    get done() {
      return bounded(done);
    },
  };
}

const close = (account: AuthSession): Promise<void> => account.close(new AbortController().signal);

describe('an account', () => {
  it('sends its chart no event for a request whose token is fresh.', async () => {
    const port = await servers.start();
    const store = createMemoryTokenStore([[{ server: port.url, client: '' }, { tokens: port.issue() }]]);
    const { account, counts } = await open(port.url, store);
    expect(await account.token()).toBe('access-1');
    const { events } = counts;
    expect(await account.token()).toBe('access-1');
    expect(events).toBeGreaterThan(0);
    expect(counts.events).toBe(events);
    await close(account);
  });

  it('asks again after its chart has crashed, and drops the former sign-in.', async () => {
    const port = await servers.start();
    const { account, crashes, kill } = await open(port.url);
    const first = waitAt(account);
    const before = await first.asked;
    kill();
    await expect(first.done).rejects.toMatchObject({ failure: { code: 'internal' } });
    expect(crashes).toMatchObject([{ id: 'signIn:1', restarts: true }]);
    const second = waitAt(account);
    const url = await second.asked;
    expect(url).not.toBe(before);
    await signInAt(url ?? '');
    await second.done;
    expect(await account.token()).toMatch(/^access-/);
    await close(account);
  });

  it('rejects waiting sign-ins when it closes, and later ones.', async () => {
    const port = await servers.start();
    const { account } = await open(port.url);
    const waiting = waitAt(account);
    await waiting.asked;
    await bounded(close(account));
    await expect(waiting.done).rejects.toMatchObject({ failure: { code: 'auth-required' } });
    await expect(waitAt(account).done).rejects.toMatchObject({ failure: { code: 'auth-required' } });
    expect(account.url).toBeUndefined();
    expect(await account.token()).toBeUndefined();
  });

  it('stops asking when the last waiting connection leaves, and asks again for the next one.', async () => {
    const port = await servers.start();
    const { account } = await open(port.url);
    const [one, two] = [new AbortController(), new AbortController()];
    const waits = [waitAt(account, one.signal), waitAt(account, two.signal)];
    await Promise.all(waits.map(({ asked }) => asked));
    one.abort(new Error('gone'));
    await expect(waits[0]!.done).rejects.toThrow('gone');
    expect(account.url).toBeDefined();
    two.abort(new Error('gone, too'));
    await expect(waits[1]!.done).rejects.toThrow('gone, too');
    expect(account.url).toBeUndefined();
    await signInAt((await waitAt(account).asked) ?? '');
    await close(account);
  });
});
