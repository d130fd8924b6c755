/** Transitions that a child process over stdio can cause. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFileCatalogStore } from '../../../src/catalog/cache-store.js';
import { tool } from '../../../src/testing/ordinary-answers.js';
import type { ServerScript } from '../../../src/testing/server-script.js';
import { SERVER } from './account.js';
import { ChildLife, controlled } from './child-life.js';
import { LIMIT_MS, QUICK, untilTaken, type Life } from './life.js';
import { make } from './mistake.js';
import { listChanged, REFRESH, RESTART, START, STOP } from './chart-events.js';

const SILENT = { fault: 'silent' } as const;
const CRASH = { fault: 'crash' } as const;
const LISTING = 'tools/list';
const STUBBORN: ServerScript = { stubborn: true };
/** Without pings, so that no pending ping reports a crash before the session does. */
const UNPROBED: typeof QUICK = { ...QUICK, ping: { idleMs: 60_000, timeoutMs: 300 } };

export function childPaths(): void {
  describe('a real child', { timeout: LIMIT_MS }, () => {
    it('is started, called, refreshed, restarted, stopped and started again.', async () => {
      const life = await ChildLife.begin({}, { policy: { ...QUICK, stableMs: 50 } });
      await life.reaches('ready');
      expect(await life.call()).toMatchObject({ content: [{ text: 'echo {}' }] });
      await life.takes('session.stable');
      await life.connection.refresh();
      await life.connection.restart();
      await life.connection.stop();
      expect(life.path).toBe('stopped');
      await life.connection.start();
      expect(life.path).toMatch(/^ready/);
    });

    it('gets another entry, another policy, and changes of the network.', async () => {
      const life = await ChildLife.begin();
      await life.reaches('ready');
      const entry = { ...life.program.config, policy: QUICK };
      await life.troupe.reload({ [SERVER]: { ...entry, policy: { ...QUICK, maxAttempts: 3 } } });
      life.troupe.setOnline(false);
      life.troupe.setOnline(true);
      const reloaded = life.troupe.reload({ [SERVER]: { ...entry, env: { ANOTHER: '1' } } });
      await life.reaches('shuttingDown');
      await life.troupe.reload({ [SERVER]: { ...entry, env: { ANOTHER: '2' } } });
      await reloaded;
      await life.reaches('ready');
      expect(life.connection.status.generation).toBeGreaterThan(1);
    });

    it('gets commands without effect, and a jump of the clock.', async () => {
      const jump = { type: 'clock.jumped' } as const;
      const life = await ChildLife.begin({ ...STUBBORN, on: { initialize: { afterMs: 100 } } });
      await life.receives('configuring.resolving', START, START);
      await life.receives('launching', START, jump);
      await life.receives('handshaking', START);
      await life.receives('ready', START, REFRESH, REFRESH);
      await untilTaken('liveness.resting: clock.jumped', () => life.receives('ready', jump));
      await life.receives('ready', RESTART);
      await life.receives('shuttingDown', START, RESTART, STOP, STOP, STOP, STOP);
      await life.reaches('stopped');
      await life.connection.start();
      await life.send(CRASH);
      await life.receives('reconnecting', START);
      await life.reaches('ready');
      expect(life.path).toMatch(/^ready/);
    });

    it('changes its tools faster than they can be read, and while they are read.', async () => {
      const life = await ChildLife.begin({ on: { [LISTING]: [{}, { afterMs: 60 }] } });
      await life.reaches('ready');
      await untilTaken('catalog.debouncing: catalog.listChanged, branch 1', async () => {
        await life.send({ tools: [tool(`tool-${Date.now()}`)] });
        await pause(5);
      });
      await untilTaken('xstate.done.actor.adoptRefreshed, branch 0', async () => {
        await life.send({ tools: [tool('last')] });
        await pause(15);
      });
      await life.lists('last');
      await untilTaken('catalog.debouncing: connection.refresh', async () => {
        await life.send({ tools: [tool('once more')] });
        await life.answers('ready.resting+debouncing', 'connection.refresh');
      });
      await life.lists('once more');
      expect(life.path).toMatch(/^ready/);
    });

    it('changes its resources while they are read, and faster than they can be read.', async () => {
      const changed = { send: { jsonrpc: '2.0', method: 'notifications/resources/list_changed' } };
      const resources = { result: { resources: [] } };
      const templates = { result: { resourceTemplates: [] } };
      const life = await ChildLife.begin({
        capabilities: { tools: {}, resources: { listChanged: true } },
        on: { 'resources/list': { ...resources, afterMs: 150 }, 'resources/templates/list': templates },
      });
      await life.reaches('ready');
      for (const [pauseMs, words] of [
        [5, 'extras.debouncing: catalog.extrasChanged, branch 1'],
        [400, 'extras.none: catalog.extrasChanged'],
        [20, 'extras.debouncing: catalog.extrasChanged, branch 0'],
      ] as const) {
        await untilTaken(words, async () => {
          await life.send(changed);
          await pause(pauseMs);
        });
      }
      await untilTaken('extras.debouncing: connection.refresh', async () => {
        await life.send(changed);
        await pause(20);
        life.command('refresh');
      });
      expect(life.path).toMatch(/^ready/);
    });

    it('fails to list its tools again while they change.', async () => {
      const error = { error: { code: -32_000, message: 'busy' }, afterMs: 200 };
      const life = await ChildLife.begin({ on: { [LISTING]: [{}, error, {}] } });
      await life.reaches('ready');
      life.command('refresh');
      await life.send({ tools: [tool('late')] });
      await life.lists('late');
      expect(life.path).toMatch(/^ready/);
    });

    it('waits for trust, which is denied, then granted.', async () => {
      const program = await controlled();
      const folder = mkdtempSync(join(tmpdir(), 'troupe-paths-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const path = join(folder, '.mcp.json');
      writeFileSync(path, JSON.stringify({ mcpServers: { [SERVER]: program.config } }));
      const life = new ChildLife(program, { config: { path, scope: 'project' }, policy: QUICK });
      await life.reaches('configuring.awaitingTrust');
      await life.receives(
        'configuring.awaitingTrust',
        { type: 'connection.start' },
        { type: 'connection.start' },
      );
      life.command('retry');
      await life.reaches('configuring.awaitingTrust');
      life.connection.deny();
      await life.reaches('failed.permanent.waiting');
      life.command('start');
      await life.reaches('configuring.awaitingTrust');
      await life.connection.trust();
      await life.reaches('ready');
      expect(life.path).toMatch(/^ready/);
    });

    it('has an unset variable in its entry.', async () => {
      const life = await ChildLife.begin({}, { args: ['${TROUPE_NO_SUCH_VARIABLE}'] });
      await life.reaches('failed.permanent.waiting');
      expect(life.connection.status.error).toMatchObject({ code: 'variable-missing' });
    });

    it('has a command that does not exist.', async () => {
      const life = await ChildLife.begin({}, { command: 'no-such-program-of-troupe' });
      await life.reaches('failed.permanent.waiting');
      expect(life.connection.status.error).toMatchObject({ code: 'command-not-found' });
    });

    it('fails to list its tools after a change, and later succeeds.', async () => {
      const error = { error: { code: -32_000, message: 'busy' } };
      const life = await ChildLife.begin({ on: { [LISTING]: [{}, error, error, {}] } });
      await life.reaches('ready');
      life.command('refresh');
      await life.reaches('ready.resting+stale');
      await life.send({ tools: [tool('a')] });
      await life.reaches('ready.resting+debouncing');
      await life.reaches('ready.resting+stale');
      life.command('refresh');
      await life.reaches('ready.resting+current');
      expect(life.path).toMatch(/^ready/);
    });

    it('misses one ping, answers the next, and then misses two.', async () => {
      const life = await ChildLife.begin({ on: { ping: [SILENT, {}, {}, SILENT] } });
      await life.reaches('ready.suspect');
      await life.reaches('ready.resting');
      await life.emits('connection.lost');
      await life.reaches('ready');
      expect(life.connection.status.generation).toBe(2);
    });

    it('does not answer pings on its last attempt.', async () => {
      const life = await ChildLife.begin({ on: { ping: SILENT } }, { policy: { ...QUICK, maxAttempts: 1 } });
      await life.reaches('ready.suspect');
      await life.reaches('failed.exhausted.resting');
      await expect(life.call()).resolves.toBeDefined();
      await life.reaches('ready.suspect');
      await life.reaches('failed.exhausted.resting');
      life.command('start');
      await life.reaches('ready');
    });

    it('exceeds the restart limit by crashing.', async () => {
      const life = await ChildLife.begin(
        {},
        { policy: { ...UNPROBED, intensity: { restarts: 2, periodMs: 60_000 } } },
      );
      for (const _ of [1, 2]) {
        await life.reaches('ready');
        const lost = life.emits('connection.lost');
        await life.send(CRASH);
        await lost;
      }
      await life.reaches('failed.permanent.waiting');
      expect(life.connection.status.error).toMatchObject({ code: 'crash-loop' });
      life.command('retry');
      await life.reaches('ready');
    });

    it('does not start, exhausts its attempts, and is tried again for a call and for commands.', async () => {
      const life = await ChildLife.begin({ start: { stderr: 'no disk', ...CRASH, exitCode: 3 } });
      await life.reaches('failed.exhausted.resting');
      expect(life.connection.status.error).toMatchObject({ exit: { code: 3 } });
      await expect(life.call()).rejects.toMatchObject({ code: 'UNKNOWN_TOOL' });
      await life.reaches('failed.exhausted.resting');
      life.command('retry');
      await life.reaches('launching', 'handshaking');
      await life.reaches('failed.exhausted.releasing', 'failed.exhausted.resting');
      life.command('start');
      await life.reaches('failed.exhausted.resting');
    });

    it('has an unsupported protocol version.', async () => {
      const life = await ChildLife.begin({ protocolVersion: '1999-01-01' });
      await life.reaches('failed.permanent.waiting');
      life.command('start');
      await life.reaches('failed.permanent.waiting');
      expect(life.connection.status.error).toMatchObject({ code: 'protocol-version' });
    });

    it('fails to list its tools from the start.', async () => {
      const life = await ChildLife.begin({
        on: { [LISTING]: { error: { code: -32_000, message: 'busy' } } },
      });
      await life.reaches('reconnecting');
      await life.answers('reconnecting.releasing', 'connection.retry');
      await life.answers('reconnecting.backingOff', 'connection.retry');
      await life.answers('failed.exhausted.releasing', 'connection.retry');
      await life.reaches('failed.exhausted.resting');
      expect(life.connection.status.error).toMatchObject({ code: 'server-error' });
    });

    it('is lazy, wakes for a call and becomes dormant again, and is started and restarted while it shuts down.', async () => {
      const life = await ChildLife.begin({}, { start: 'lazy', idleStopMs: 300 });
      await life.answers('configuring.resolving', 'connection.start');
      await life.reaches('configuring.dormant');
      await life.call();
      await life.reaches('shuttingDown');
      life.command('start');
      await life.reaches('ready');
      await life.receives('shuttingDown', { type: 'connection.restart' });
      await life.reaches('ready');
      expect(life.path).toMatch(/^ready/);
    });

    it('is dormant from the start if its tools are cached by an earlier run.', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'troupe-paths-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const program = await controlled();
      const servers = { [SERVER]: { ...program.config, policy: QUICK, start: 'lazy' } } as const;
      const live = (): Life => new ChildLife(program, { servers, cache: createFileCatalogStore({ folder }) });
      const first = live();
      await first.lists('echo');
      await first.troupe.close();
      const second = live();
      await second.reaches('configuring.dormant');
      expect(await second.call()).toMatchObject({ content: [{ text: 'echo {}' }] });
    });

    it('keeps working if a bug in the host breaks the reading of its other lists.', async () => {
      const changed = { send: { jsonrpc: '2.0', method: 'notifications/resources/list_changed' } };
      const on = { 'resources/list': { result: { resources: [] }, afterMs: 150 } };
      make('restoring');
      const life = await ChildLife.begin({
        capabilities: { tools: {}, resources: { listChanged: true } },
        on,
      });
      await life.reaches('ready');
      await life.takes('error.actor.enrichCatalog, branch 1');
      await untilTaken('error.actor.enrichCatalog, branch 0', async () => {
        await life.send(changed);
        await pause(40);
      });
      expect(await life.call()).toMatchObject({ content: [{ text: 'echo {}' }] });
    });

    it('fails if a bug in the host prevents the adoption of its list of tools.', async () => {
      const life = await ChildLife.begin({}, { policy: UNPROBED });
      await life.reaches('ready.resting+current');
      make('adopting');
      await life.receives('ready.resting+current', REFRESH, listChanged);
      await life.takes('error.actor.adoptRefreshed, branch 0');
      await life.reaches('ready.resting+stale');
      life.command('restart');
      await life.reaches('failed.permanent.waiting');
      expect(life.connection.status.error).toMatchObject({ code: 'internal' });
    });

    it('crashes on its only attempt.', async () => {
      const life = await ChildLife.begin({}, { policy: { ...UNPROBED, maxAttempts: 1 } });
      await life.reaches('ready');
      await life.send(CRASH);
      await life.takes('ready: session.lost, branch 5');
      await life.reaches('failed.exhausted.resting');
      expect(life.connection.status.error).toMatchObject({ code: 'process-exited' });
    });

    it('exceeds the restart limit by missing pings.', async () => {
      const policy = { ...QUICK, intensity: { restarts: 1, periodMs: 60_000 } };
      const life = await ChildLife.begin({ on: { ping: SILENT } }, { policy });
      await life.reaches('failed.permanent.waiting');
      expect(life.connection.status.error).toMatchObject({ code: 'crash-loop' });
    });
  });
}
