/** Transitions that a remote server in its own process can cause. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuthOptions } from '../../../src/auth/auth-options.js';
import { createMemoryTokenStore } from '../../../src/auth/stores/token-store.js';
import type { TroupeOptions } from '../../../src/options.js';
import type { HttpServerConfig } from '../../../src/config/entry/server-config.js';
import { whenEmits } from '../../support/test-troupe.js';
import { SERVER } from './account.js';
import { make } from './mistake.js';
import { closing, Life, LIMIT_MS, QUICK, untilTaken } from './life.js';
import {
  startRemoteProgram,
  type RemoteAnswer,
  type RemoteOrder,
  type RemoteProgram,
} from './remote-program.js';
import { standStill } from './stand-still.js';
import { listChanged, REFRESH, reload, RETRY, START } from './chart-events.js';

type Answers = Readonly<Record<string, RemoteAnswer>>;

const REMOTE: NonNullable<HttpServerConfig['policy']> = {
  ...QUICK,
  exhausted: { callAfterMs: 0, remoteEveryMs: 500 },
  stop: { drainMs: 500, deleteMs: 300 },
};

class RemoteLife extends Life {
  constructor(
    readonly program: RemoteProgram,
    options: TroupeOptions,
  ) {
    super(options);
  }

  static async begin(
    answers: Answers = {},
    settings: Partial<HttpServerConfig> = {},
    options: TroupeOptions = {},
  ): Promise<RemoteLife> {
    const program = closing(await startRemoteProgram({ answers }));
    const servers = { [SERVER]: entryOf(program, settings) };
    return new RemoteLife(program, { servers, ...options });
  }

  async send(order: RemoteOrder): Promise<void> {
    await this.program.send(order);
  }

  /** Opens its next session over SSE. */
  speakOlder(): void {
    this.reload({ type: 'sse', url: `${this.program.origin}/sse`, policy: REMOTE });
  }

  /** Gives the entry another header, which needs a new session. */
  change(settings: Partial<HttpServerConfig> = {}): void {
    this.reload(entryOf(this.program, { headers: { 'x-change': `${(changes += 1)}` }, ...settings }));
  }
}

let changes = 0;

function entryOf({ origin }: RemoteProgram, settings: Partial<HttpServerConfig>): HttpServerConfig {
  return { type: 'http', url: `${origin}/mcp`, policy: REMOTE, ...settings };
}

/** A user who signs in immediately. */
const willing = (): AuthOptions => ({
  store: createMemoryTokenStore(),
  redirectUrl: 'http://127.0.0.1:1/callback',
  onAuthorizationUrl: () => 'code',
});

/** A user who does not sign in. */
const absent = (): AuthOptions => ({ ...willing(), onAuthorizationUrl: () => undefined });

const READY = 'ready.resting+current';
const LISTING = 'tools/list';
const LOCKED = { needsToken: true } as const;
const CLOSED = { needsToken: 'another' } as const;
const ONE_SIGN_IN = { ...REMOTE, signIns: { restarts: 1, periodMs: 60_000 } };
const SILENT = { silent: true } as const;
/** How much longer a close may take than its steps. */
const CLOSE_MARGIN_MS = 1_000;
const refusing = (status: number): RemoteAnswer => ({ status });

export function remotePaths(): void {
  describe('a remote server', { timeout: LIMIT_MS }, () => {
    it('requires a sign-in for its first message, and again for a call.', async () => {
      const life = await RemoteLife.begin({ initialize: LOCKED }, {}, { auth: willing() });
      await life.reaches('ready');
      await life.send({ answers: { 'tools/call': LOCKED }, forget: 'tokens' });
      await expect(life.call()).rejects.toMatchObject({ cause: { code: 'AUTH_REQUIRED' } });
      await life.reaches('ready');
      expect(await life.call()).toMatchObject({ content: [{ text: 'echoed' }] });
      expect(life.connection.status.generation).toBe(3);
    });

    it.each([
      ['for the first time', REMOTE, 2, 'ready', null],
      ['beyond the limit of sign-ins', ONE_SIGN_IN, 1, 'failed.permanent.waiting', 'auth-required'],
    ] as const)(
      'does not answer pings while its token is renewed, %s.',
      async (_, base, branch, path, code) => {
        const ping = { idleMs: 100, timeoutMs: 3_000 };
        const policy = { ...base, ping };
        const life = await RemoteLife.begin({ initialize: LOCKED }, { policy }, { auth: willing() });
        await life.reaches('ready');
        const answers = {
          [LISTING]: LOCKED,
          ping: SILENT,
          // Two consecutive requests for a token end during the second ping.
          '/token': { afterMs: (ping.idleMs + 1.5 * ping.timeoutMs) / 2 },
        };
        await life.send({ answers, forget: 'tokens' });
        life.command('refresh');
        await life.takes(`probeAgain, branch ${branch}`);
        await life.send({ answers: { initialize: LOCKED } });
        await life.reaches(path);
        expect(life.troupe.status).toMatchObject([{ error: code === null ? null : { code } }]);
      },
    );

    it('requires a sign-in to list its tools.', async () => {
      const life = await RemoteLife.begin({ [LISTING]: LOCKED }, {}, { auth: willing() });
      await life.lists('echo');
      expect(life.path).toMatch(/^ready/);
    });

    it('requires a sign-in that does not happen.', async () => {
      const life = await RemoteLife.begin({ initialize: LOCKED });
      await life.receives('configuring.authorizing.signingIn', START);
      await life.send({ answers: {} });
      life.command('retry');
      await life.reaches('ready');
      expect(life.connection.status.generation).toBe(2);
    });

    it('requires a sign-in and then rejects it.', async () => {
      const answers = { initialize: LOCKED, '/token': refusing(400) };
      const life = await RemoteLife.begin(answers, {}, { auth: willing() });
      await life.reaches('failed');
      expect(life.connection.status.error).toMatchObject({ code: 'auth-required' });
    });

    it('rejects every token: for the first message, for the list, and for a call.', async () => {
      for (const method of ['initialize', LISTING]) {
        const life = await RemoteLife.begin(
          { [method]: CLOSED },
          { policy: ONE_SIGN_IN },
          { auth: willing() },
        );
        await life.reaches('failed.permanent.waiting');
        expect(life.connection.status.error).toMatchObject({ code: 'auth-required' });
      }
      const life = await RemoteLife.begin(
        { initialize: LOCKED, 'tools/call': CLOSED },
        { policy: ONE_SIGN_IN },
        { auth: willing() },
      );
      await life.reaches('ready');
      await expect(life.call()).rejects.toMatchObject({ code: 'NOT_READY' });
      await life.reaches('failed.permanent.waiting');
      expect(life.connection.status.error).toMatchObject({ code: 'auth-required' });
    });

    it('uses the older transport and rejects every token.', async () => {
      const program = closing(await startRemoteProgram({ answers: { GET: CLOSED } }));
      const entry = { type: 'sse', url: `${program.origin}/sse`, policy: ONE_SIGN_IN } as const;
      const life = new RemoteLife(program, { servers: { [SERVER]: entry }, auth: willing() });
      await life.reaches('failed.permanent.waiting');
      expect(life.connection.status.error).toMatchObject({ code: 'auth-required' });
    });

    it('requires a sign-in that fails for a while.', async () => {
      const answers = { initialize: LOCKED, '/token': refusing(503) };
      const life = await RemoteLife.begin(answers, {}, { auth: willing() });
      await life.reaches('failed.exhausted');
      await life.send({ answers: {} });
      life.command('retry');
      await life.reaches('ready');
      expect(life.connection.status.error).toBeNull();
    });

    it('requires a sign-in and is slow to end the session that it has rejected.', async () => {
      const life = await RemoteLife.begin({ [LISTING]: LOCKED, DELETE: { afterMs: 200 } });
      await life.receives('configuring.authorizing.releasing', RETRY);
      await life.reaches('configuring.authorizing.signingIn');
      expect(life.connection.status.generation).toBe(2);
    });

    it('requires a sign-in and does not end the previous session.', async () => {
      const policy = { ...REMOTE, releaseTimeoutMs: 50, stop: { deleteMs: 1_000 } };
      const life = await RemoteLife.begin({ DELETE: SILENT, 'tools/call': LOCKED }, { policy });
      await life.reaches('ready');
      life.change({ policy });
      await life.reaches(`${READY}+retiring`);
      void life.call();
      await life.takes('error.actor.releaseRefused');
      await life.reaches('failed.unreleased');
      expect(life.connection.status.error).toMatchObject({ code: 'not-released' });
    });

    it('refuses permanently to list its tools.', async () => {
      const life = await RemoteLife.begin({ [LISTING]: refusing(410) });
      await life.reaches('failed.permanent.waiting');
      expect(life.connection.status.error).toMatchObject({ http: { status: 410 } });
    });

    it('is unreachable for two consecutive calls.', async () => {
      const ping = { idleMs: 60_000, timeoutMs: 300 };
      const life = await RemoteLife.begin({}, { policy: { ...REMOTE, ping } });
      await life.reaches('ready');
      await life.send({ isGone: true });
      const isLost = life.emits('connection.lost');
      await expect(life.call()).rejects.toThrow();
      // The listening stream may have failed to reconnect meanwhile, which counts as well.
      await expect(life.call()).rejects.toThrow();
      await isLost;
      await life.reaches('failed.exhausted');
      expect(life.connection.status.error).toMatchObject({ code: 'address-refused' });
    });

    it('uses the older transport, requires a sign-in, and then is out of order.', async () => {
      const program = closing(await startRemoteProgram({ answers: { GET: LOCKED } }));
      const entry = { type: 'sse', url: `${program.origin}/sse`, policy: REMOTE } as const;
      const life = new RemoteLife(program, { servers: { [SERVER]: entry }, auth: willing() });
      const asked = life.emits('connection.authRequired');
      await program.send({ answers: { GET: LOCKED, '/token': { afterMs: 100 } } });
      await asked;
      await program.send({ answers: { GET: refusing(503) } });
      await life.reaches('failed.exhausted.retryingSlowly');
      expect(life.connection.status.error).toMatchObject({ http: { status: 503 } });
    });

    it('is not tried while the network is down.', async () => {
      const life = await RemoteLife.begin();
      for (const isRetried of [false, true]) {
        await life.reaches('ready');
        life.troupe.setOnline(false);
        await life.send({ forget: 'sessions' });
        void life.call();
        await life.reaches('reconnecting.offline');
        if (isRetried) {
          life.command('retry');
          await life.reaches('ready');
        } else {
          life.troupe.setOnline(true);
          await life.reaches('reconnecting.backingOff');
          life.troupe.setOnline(false);
          expect(life.path).toBe('reconnecting.offline');
          life.troupe.setOnline(true);
        }
      }
      expect(life.path).toMatch(/^ready/);
    });

    it('is out of order for a long time: it is retried slowly, for a call, for commands and when the network returns.', async () => {
      const life = await RemoteLife.begin();
      await life.reaches('ready');
      await life.send({ answers: { initialize: refusing(503) }, forget: 'sessions' });
      await expect(life.call()).rejects.toMatchObject({ code: 'NOT_READY' });
      await life.reaches('failed.exhausted.retryingSlowly');
      await life.takes('slowRetryDelay');
      for (const type of ['connection.retry', 'connection.start'] as const) {
        await life.answers('failed.exhausted.retryingSlowly', type);
        await life.reaches('failed.exhausted.retryingSlowly');
      }
      await untilTaken('retryingSlowly: call.waiting', () => life.call().then(failing, () => {}));
      await untilTaken('retryingSlowly: network.online', async () => {
        await life.reaches('failed.exhausted.retryingSlowly');
        life.troupe.setOnline(false);
        life.troupe.setOnline(true);
      });
      await life.send({ answers: {} });
      await life.reaches('ready');
      expect(life.path).toMatch(/^ready/);
    });

    it('gets another entry: its next session starts beside the current one, whose last call finishes.', async () => {
      const settings = { start: 'lazy', idleStopMs: 100 } as const;
      const life = await RemoteLife.begin({ 'tools/call': { afterMs: 700 } }, settings);
      await life.lists('echo');
      const first = life.call();
      await life.reaches('ready');
      life.change(settings);
      await life.takes('retiring: session.idle');
      expect(await first).toMatchObject({ content: [{ text: 'echoed' }] });
      await life.takes('done.actor.retireSession');
    });

    it('gets another entry repeatedly: there are never more than two sessions, and no call is lost.', async () => {
      const life = await RemoteLife.begin({ 'tools/call': { afterMs: 1_500 }, initialize: { afterMs: 200 } });
      await life.reaches('ready');
      const call = life.call();
      life.change();
      await life.reaches(`${READY}+preparing.initializing`);
      life.change();
      await life.reaches(`${READY}+retiring`);
      life.change();
      expect(await call).toMatchObject({ content: [{ text: 'echoed' }] });
      await life.reaches(`${READY}+retiring`);
      expect(life.connection.status.generation).toBe(4);
    });

    it('is idle while its next session starts.', async () => {
      const settings = { start: 'lazy', idleStopMs: 100 } as const;
      const life = await RemoteLife.begin({}, settings);
      await life.lists('echo');
      await life.call();
      await life.send({ answers: { initialize: { afterMs: 400 } } });
      life.change(settings);
      await life.takes('preparing: session.idle');
      await life.reaches('configuring.dormant');
      expect(life.connection.status.generation).toBe(2);
    });

    it('refuses a second session beside the current one, and later cannot start one at all.', async () => {
      const life = await RemoteLife.begin();
      await life.reaches('ready');
      await life.send({ answers: { initialize: refusing(409) } });
      const isReplaced = life.reaches('shuttingDown');
      life.change();
      await isReplaced;
      await life.send({ answers: {} });
      await life.reaches('ready');
      await life.send({ answers: { initialize: refusing(500) } });
      life.change();
      await life.within('an outdated session', isOutdated(life));
      expect(await life.call()).toMatchObject({ content: [{ text: 'echoed' }] });
    });

    it('gets an entry with an unset variable, and keeps its session.', async () => {
      const life = await RemoteLife.begin();
      await life.reaches('ready');
      life.change({ headers: { 'x-change': '${TROUPE_NO_SUCH_VARIABLE}' } });
      await life.within('an outdated session', isOutdated(life));
      expect(life.connection.status.generation).toBe(1);
    });

    it('gets another entry in each phase of its next session.', async () => {
      const life = await RemoteLife.begin({ DELETE: { afterMs: 150 } });
      await life.reaches('ready');
      await life.send({ answers: { GET: SILENT, DELETE: { afterMs: 150 } } });
      life.speakOlder();
      await life.reaches(`${READY}+preparing.opening`);
      await life.send({ answers: { [LISTING]: SILENT, DELETE: { afterMs: 150 } } });
      life.change();
      await life.reaches(`${READY}+preparing.listing`);
      await life.send({ answers: { [LISTING]: refusing(503), DELETE: { afterMs: 300 } } });
      life.change();
      await life.receives(`${READY}+preparing.discarding`, reload);
      await life.send({ answers: {} });
      life.change();
      await life.within('a session of the last entry', isCurrent(life));
      expect(life.path).toMatch(/^ready/);
    });

    it('gets another entry, and its next session cannot be opened.', async () => {
      const life = await RemoteLife.begin();
      await life.reaches('ready');
      await life.send({ answers: { GET: refusing(503) } });
      life.speakOlder();
      await life.within('an outdated session', isOutdated(life));
      await life.takes('done.actor.discardSuccessor');
      expect(life.connection.status.generation).toBe(1);
    });

    it.each([
      ['is opened', (life: RemoteLife) => life.speakOlder(), { GET: LOCKED }],
      ['lists its tools', (life: RemoteLife) => life.change(), { [LISTING]: LOCKED }],
    ] as const)('requires a sign-in when its next session %s.', async (_, change, answers) => {
      const life = await RemoteLife.begin({}, {}, { auth: absent() });
      await life.reaches('ready');
      await life.send({ answers });
      change(life);
      await life.reaches('shuttingDown');
      await life.reaches('configuring.authorizing.signingIn');
      expect(life.connection.status.error).toMatchObject({ code: 'auth-required' });
    });

    it('changes its tools while those of its next session are adopted, and the adoption then fails.', async () => {
      const ping = { idleMs: 60_000, timeoutMs: 300 };
      const policy = { ...REMOTE, ping };
      const life = await RemoteLife.begin({}, { policy });
      await life.reaches('ready');
      life.change({ policy });
      await life.receives('ready.resting+adopting', REFRESH, listChanged);
      await life.takes('done.actor.adoptSuccessor, branch 0');
      await life.reaches(READY);
      make('adopting');
      life.change({ policy });
      await life.receives('ready.resting+adopting', listChanged);
      await life.takes('error.actor.adoptSuccessor, branch 0');
      await life.reaches('ready.resting+stale');
      life.change({ policy });
      await life.takes('error.actor.adoptSuccessor, branch 1');
      await life.reaches('ready.resting+stale');
      expect(await life.call()).toMatchObject({ content: [{ text: 'echoed' }] });
    });

    it('does not end a discarded next session while the host is blocked.', async () => {
      const stop = { drainMs: 0, deleteMs: 300, stdinEndMs: 0, termMs: 0 };
      const policy = { ...REMOTE, stop };
      const life = await RemoteLife.begin({}, { policy });
      await life.reaches('ready');
      await life.send({ answers: { [LISTING]: refusing(503), DELETE: SILENT } });
      life.change({ policy });
      await life.reaches(`${READY}+preparing.discarding`);
      await turn();
      standStill(CLOSE_MARGIN_MS + stop.deleteMs);
      await life.takes('error.actor.discardSuccessor');
      expect(await life.call()).toMatchObject({ content: [{ text: 'echoed' }] });
    });

    it('is lost, or does not answer pings, while its next session starts.', async () => {
      const life = await RemoteLife.begin();
      await life.reaches('ready');
      await life.send({ answers: { initialize: { afterMs: 2_000 } }, forget: 'sessions' });
      life.change();
      await life.reaches(`${READY}+preparing`);
      const isLost = life.emits('connection.lost');
      life.command('refresh');
      await isLost;
      await life.send({ answers: {} });
      await life.reaches('ready');
      await life.send({ answers: { initialize: { afterMs: 2_000 }, ping: SILENT } });
      const isSilent = life.emits('connection.lost');
      life.change();
      await isSilent;
      await life.send({ answers: {} });
      await life.reaches('ready');
      expect(life.path).toMatch(/^ready/);
    });

    it('gets another entry that is not trusted.', async () => {
      const program = closing(await startRemoteProgram());
      const folder = mkdtempSync(join(tmpdir(), 'troupe-paths-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const path = join(folder, '.mcp.json');
      const write = (settings: Partial<HttpServerConfig>): void =>
        writeFileSync(path, JSON.stringify({ mcpServers: { [SERVER]: entryOf(program, settings) } }));
      write({});
      const config = { path, scope: 'project' } as const;
      const life = new RemoteLife(program, { config, trust: 'programs-only' });
      await life.reaches('ready');
      write({ headers: { 'x-change': '${HOME}' } });
      life.troupe.reload().catch(() => {});
      await life.reaches('configuring.awaitingTrust');
      expect(life.connection.status.generation).toBe(1);
    });

    it('does not end the previous session while the host is blocked.', async () => {
      const stop = { drainMs: 0, deleteMs: 300, stdinEndMs: 0, termMs: 0 };
      const policy = { ...REMOTE, stop };
      const life = await RemoteLife.begin({ DELETE: SILENT }, { policy });
      await life.reaches('ready');
      life.change({ policy });
      await life.reaches(`${READY}+retiring`);
      await turn();
      standStill(CLOSE_MARGIN_MS + stop.deleteMs);
      await life.takes('error.actor.retireSession');
      expect(await life.call()).toMatchObject({ content: [{ text: 'echoed' }] });
    });
  });
}

async function isOutdated(life: Life): Promise<void> {
  await whenEmits(life.troupe.status$, () => life.connection.status.outdated !== null);
}

async function isCurrent(life: Life): Promise<void> {
  await whenEmits(life.troupe.status$, () => {
    const { outdated, tags } = life.connection.status;
    return outdated === null && tags.includes('usable') && !tags.includes('preparing');
  });
}

function failing(): never {
  throw new Error('The call was answered.');
}
