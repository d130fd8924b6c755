import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createMemoryTrustStore,
  type TrustStore,
  createFileTrustStore,
} from '../../../src/trust/trust-store.js';
import { discoverServers } from '../../../src/servers/discover.js';
import type { TroupeOptions } from '../../../src/options.js';
import type { TrustRequest } from '../../../src/trust/trust-request.js';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import { systemClock } from '../../../src/ports.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents } from '../../support/event-record.js';
import { useInotify } from '../../support/inotify.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { WAIT_LIMIT_MS } from '../../support/time-limit.js';

const MISSING = 'no-such-command-of-the-project';
const roots: string[] = [];

describe('trust', () => {
  useInotify();
  useLeakCheck();
  useCrashWatch();
  const made: Troupe[] = [];
  let root: string;
  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'troupe-trust-')));
    roots.push(root);
  });
  afterEach(() => Promise.all(made.splice(0).map((troupe) => troupe.close())));
  afterAll(() => Promise.all(roots.splice(0).map((each) => rm(each, { recursive: true, force: true }))));

  const file = (): string => join(root, '.mcp.json');
  const write = (servers: Record<string, ServerConfig>): Promise<void> =>
    writeFile(file(), JSON.stringify({ mcpServers: servers }));

  /** A trusted entry is recognized by its failure: its program does not exist. */
  function make(options: TroupeOptions) {
    const config = { path: file(), scope: 'project' } as const;
    const troupe = createTroupe({ policy: { maxAttempts: 1 }, config, ...options });
    made.push(troupe);
    return { troupe, events: recordEvents(troupe.events$) };
  }

  const substate = (troupe: Troupe): string | undefined => troupe.connection('lamp')?.status.substate;

  it('is kept in the store of the host, and applies to its next troupe until the entry changes', async () => {
    await write({ lamp: { command: MISSING } });
    const trustStore = createMemoryTrustStore();
    const first = make({ trustStore });
    await first.troupe.start();
    expect(substate(first.troupe)).toBe('awaitingTrust');
    const { trustRequest } = first.troupe.connection('lamp')?.status ?? {};
    await expect(first.troupe.connection('lamp')?.trust()).rejects.toThrow(MISSING);
    expect(await trustStore.list()).toMatchObject([{ server: 'lamp', hash: trustRequest?.hash }]);

    const second = make({ trustStore });
    expect((await second.troupe.start()).failed).toMatchObject([
      { server: 'lamp', failure: { code: 'command-not-found' } },
    ]);

    await write({ lamp: { command: MISSING, args: ['--more'] } });
    const third = make({ trustStore });
    expect(await third.troupe.start()).toMatchObject({ failed: [], pending: [{ server: 'lamp' }] });
    expect(substate(third.troupe)).toBe('awaitingTrust');
  });

  it('is required again if the entry of a running server changes', async () => {
    await write({ lamp: { command: MISSING } });
    const { troupe } = make({ trustStore: createMemoryTrustStore() });
    await troupe.start();
    await expect(troupe.connection('lamp')?.trust()).rejects.toThrow(MISSING);
    await write({ lamp: { command: MISSING, env: { LD_PRELOAD: './evil.so' } } });
    await troupe.reload();
    expect(troupe.connection('lamp')?.status).toMatchObject({
      substate: 'awaitingTrust',
      trustRequest: { env: { LD_PRELOAD: './evil.so' } },
    });
  });

  it('is bound to the folder and not to a link that leads there', async () => {
    for (const name of ['a', 'b']) {
      await mkdir(join(root, name, '.git'), { recursive: true });
      await writeFile(
        join(root, name, '.mcp.json'),
        JSON.stringify({ mcpServers: { lamp: { command: MISSING } } }),
      );
    }
    const link = join(root, 'link');
    const trustStore = createMemoryTrustStore();
    for (const options of [
      { discover: { cwd: link, user: false } },
      { config: { path: join(link, '.mcp.json'), scope: 'project' } as const },
      { config: join(link, '.mcp.json') },
    ]) {
      await symlink('a', link);
      const first = make({ trustStore, config: [], ...options }).troupe;
      await first.start();
      const hash = first.connection('lamp')?.status.trustRequest?.hash;
      expect(first.connection('lamp')?.status.trustRequest).toMatchObject({ folder: join(root, 'a') });
      await expect(first.connection('lamp')?.trust()).rejects.toThrow(MISSING);
      await rm(link);
      await symlink('b', link);
      const second = make({ trustStore, config: [], ...options }).troupe;
      await second.start();
      expect(second.connection('lamp')?.status.trustRequest).toMatchObject({ folder: join(root, 'b') });
      await trustStore.revoke(hash ?? '');
      await rm(link);
    }
  });

  it('is bound to the contents of program and script with the policy contents, at every start', async () => {
    const script = join(root, 'server.mjs');
    await writeFile(script, 'process.exit(3)');
    await write({ lamp: { command: process.execPath, args: ['server.mjs', '--data=none', '-x'] } });
    const trustStore = createMemoryTrustStore();
    const { troupe } = make({ trustStore, trust: 'contents' });
    await troupe.start();
    const lamp = troupe.connection('lamp');
    const before = lamp?.status.trustRequest;
    expect(Object.keys(before?.contents ?? {}).toSorted()).toEqual(
      [await realpath(process.execPath), script].toSorted(),
    );
    const exited = { failure: { code: 'process-exited', exit: { code: 3 } } };
    await expect(lamp?.trust({ hash: before?.hash ?? '' })).rejects.toMatchObject(exited);
    await expect(lamp?.retry()).rejects.toMatchObject(exited);

    await writeFile(script, 'process.exit(4)');
    await expect(lamp?.retry()).rejects.toMatchObject({ code: 'TRUST_REQUIRED' });
    expect(lamp?.status).toMatchObject({ substate: 'awaitingTrust' });
    expect(lamp?.status.trustRequest?.hash).not.toBe(before?.hash);
    const next = make({ trustStore, trust: 'contents' }).troupe;
    expect(await next.start()).toMatchObject({ pending: [{ server: 'lamp' }] });

    await writeFile(script, 'process.exit(3)');
    await expect(lamp?.retry()).rejects.toMatchObject(exited);
  });

  it('that was revoked in the store no longer applies in the troupe that gave it, and can be given again', async () => {
    await write({ lamp: { command: MISSING } });
    const folder = join(root, 'trusted');
    const { troupe } = make({ trustStore: createFileTrustStore({ folder }) });
    await troupe.start();
    const lamp = troupe.connection('lamp');
    const hash = lamp?.status.trustRequest?.hash ?? '';
    await expect(lamp?.trust()).rejects.toThrow(MISSING);
    await expect(lamp?.retry()).rejects.toThrow(MISSING);
    await createFileTrustStore({ folder }).revoke(hash);
    await expect(lamp?.retry()).rejects.toMatchObject({ code: 'TRUST_REQUIRED' });
    expect(substate(troupe)).toBe('awaitingTrust');
    await expect(lamp?.trust()).rejects.toThrow(MISSING);
  });

  it('that was revoked in the store returns the name to the entry of another source', async () => {
    await write({ lamp: { command: `${MISSING}-theirs` } });
    const mine = join(root, 'mine.json');
    const name = (servers: object): Promise<void> => writeFile(mine, JSON.stringify({ mcpServers: servers }));
    await name({});
    const trustStore = createMemoryTrustStore();
    const { troupe } = make({
      trustStore,
      config: [
        { path: file(), scope: 'project' },
        { path: mine, trust: 'all' },
      ],
    });
    await troupe.start();
    const lamp = troupe.connection('lamp');
    const hash = lamp?.status.trustRequest?.hash ?? '';
    await expect(lamp?.trust()).rejects.toThrow(`${MISSING}-theirs`);
    await name({ lamp: { command: `${MISSING}-mine` } });
    await expect(troupe.reload()).resolves.toMatchObject({ unchanged: ['lamp'] });
    await trustStore.revoke(hash);
    await expect(troupe.reload()).resolves.toMatchObject({ changed: ['lamp'] });
    expect(lamp?.status.error?.message).toContain(`${MISSING}-mine`);
  });

  it('that was revoked in the store stays revoked if the store cannot be read later', async () => {
    await write({ lamp: { command: MISSING } });
    const kept = createMemoryTrustStore();
    let isBroken = false;
    const unlessBroken = async <T>(read: () => Promise<T> | T): Promise<T> => {
      if (isBroken) throw new Error('the disk is gone');
      return read();
    };
    const trustStore: TrustStore = {
      trust: (request) => kept.trust(request),
      revoke: (hash) => kept.revoke(hash),
      has: (hash) => unlessBroken(() => kept.has(hash)),
      list: () => unlessBroken(() => kept.list()),
    };
    const { troupe } = make({ trustStore });
    await troupe.start();
    const lamp = troupe.connection('lamp');
    const hash = lamp?.status.trustRequest?.hash ?? '';
    await expect(lamp?.trust()).rejects.toThrow(MISSING);
    await kept.revoke(hash);
    await troupe.reload();
    isBroken = true;
    await expect(lamp?.retry()).rejects.toMatchObject({ code: 'TRUST_REQUIRED' });
  });

  it('applies in the troupe that gave it even if the store cannot be read', async () => {
    await write({ lamp: { command: MISSING } });
    const broken = (): Promise<never> => Promise.reject(new Error('the disk is gone'));
    const { troupe } = make({ trustStore: { ...createMemoryTrustStore(), has: broken, list: broken } });
    await troupe.start();
    await expect(troupe.connection('lamp')?.trust()).rejects.toThrow(MISSING);
    await expect(troupe.connection('lamp')?.retry()).rejects.toThrow(MISSING);
  });

  it('ends with the troupe if the host gives no store', async () => {
    await write({ lamp: { command: MISSING } });
    const first = make({});
    await first.troupe.start();
    await expect(first.troupe.connection('lamp')?.trust()).rejects.toThrow(MISSING);
    await expect(first.troupe.connection('lamp')?.retry()).rejects.toThrow(MISSING);
    const second = make({});
    await second.troupe.start();
    expect(substate(second.troupe)).toBe('awaitingTrust');
  });

  it('by a function is kept if the function agrees, and asked for again if it refuses', async () => {
    await write({ lamp: { command: MISSING } });
    const trustStore = createMemoryTrustStore();
    const trust = vi.fn<(request: TrustRequest) => boolean>(() => false);
    const first = make({ trustStore, trust });
    await first.troupe.start();
    expect(substate(first.troupe)).toBe('awaitingTrust');
    trust.mockReturnValue(true);
    await expect(first.troupe.connection('lamp')?.retry()).rejects.toThrow(MISSING);
    expect(trust).toHaveBeenCalledTimes(2);
    const second = make({ trustStore, trust });
    await second.troupe.start();
    expect(trust).toHaveBeenCalledTimes(2);
    expect(substate(second.troupe)).not.toBe('awaitingTrust');
  });

  it('that another process stored starts the connection that waits for it', async () => {
    await write({ lamp: { command: MISSING }, boat: { command: MISSING } });
    const folder = join(root, 'trusted');
    const { troupe, events } = make({ trustStore: createFileTrustStore({ folder }) });
    await troupe.start();
    const request = troupe.connection('lamp')?.status.trustRequest;
    const failed = events.when('connection.failed', ({ server }) => server === 'lamp');
    const elsewhere = createFileTrustStore({ folder });
    // The watch of the folder starts some time after the troupe.
    await vi.waitFor(
      async () => {
        if (request) await elsewhere.trust(request);
        expect(events.of('connection.failed')).toHaveLength(1);
      },
      { timeout: WAIT_LIMIT_MS, interval: 200 },
    );
    expect((await failed).failure.code).toBe('command-not-found');
    expect(troupe.connection('boat')?.status.substate).toBe('awaitingTrust');
  });

  it('lets the entry of the project take the name of another one, and only that entry', async () => {
    await mkdir(join(root, '.cursor'));
    await write({ lamp: { command: `${MISSING}-theirs` } });
    const trustStore = createMemoryTrustStore();
    const options: TroupeOptions = {
      config: [{ path: file(), scope: 'project' }],
      discover: { cwd: root, user: false, extensions: { mine: { lamp: { command: `${MISSING}-mine` } } } },
      trustStore,
    };
    const before = await discoverServers({ ...options, cwd: root });
    expect(before.servers).toMatchObject([
      { server: 'lamp', scope: 'extension', trusted: true, trustRequest: null },
    ]);
    expect(before.heldBack).toMatchObject([{ server: 'lamp', trusted: false }]);
    const { failed } = await make(options).troupe.start();
    expect(failed[0]?.failure.message).toContain(`${MISSING}-mine`);

    const request = before.heldBack[0]?.trustRequest;
    if (request) await trustStore.trust(request);
    const after = await discoverServers({ ...options, cwd: root });
    expect(after.servers).toMatchObject([
      { server: 'lamp', scope: 'project', trusted: true, trustRequest: null },
    ]);
    expect(after.heldBack).toEqual([]);
    expect((await make(options).troupe.start()).failed[0]?.failure.message).toContain(`${MISSING}-theirs`);

    await write({ lamp: { command: `${MISSING}-worse` } });
    expect((await make(options).troupe.start()).failed[0]?.failure.message).toContain(`${MISSING}-mine`);
  });

  it('is missing if the store fails: the host gets a diagnostic, and nothing else breaks', async () => {
    await write({ lamp: { command: MISSING } });
    const broken = (): Promise<never> => Promise.reject(new Error('the disk is gone'));
    const trustStore: TrustStore = { has: broken, list: broken, trust: broken, revoke: broken };
    const { troupe, events } = make({ trustStore });
    await troupe.start();
    expect(substate(troupe)).toBe('awaitingTrust');
    const problems = () => new Set(events.of('diagnostic').map(({ kind, message }) => `${kind}: ${message}`));
    const problem = expect.stringMatching(/^trust-store-problem:.*the disk is gone/) as string;
    expect([...problems()]).toEqual([problem]);
    // The trust applies anyway, until the troupe is closed.
    await expect(troupe.connection('lamp')?.trust()).rejects.toThrow(MISSING);
    expect([...problems()]).toEqual([problem, problem]);
    const found = await discoverServers({ config: { path: file(), scope: 'project' }, trustStore });
    expect(found.problems).toMatchObject([{ code: 'trust-store-unreadable', severity: 'warning' }]);
  });

  it('has a time limit for a store that never answers: the start, `trust()` and the close continue', async () => {
    await write({ lamp: { command: MISSING } });
    const never = (): Promise<never> => new Promise(() => {});
    const trustStore: TrustStore = { has: never, list: never, trust: never, revoke: never };
    // Files are read in real time, so the clock cannot stand still; it runs faster instead.
    const clock = {
      ...systemClock,
      setTimeout: (fn: () => void, ms: number) => systemClock.setTimeout(fn, ms / 50),
    };
    const { troupe, events } = make({ trustStore, clock });
    await troupe.start();
    expect(substate(troupe)).toBe('awaitingTrust');
    const problems = () => new Set(events.of('diagnostic').map(({ kind, message }) => `${kind}: ${message}`));
    const problem = expect.stringMatching(/^trust-store-problem:.*2 s/) as string;
    expect([...problems()]).toEqual([problem]);
    await expect(troupe.connection('lamp')?.trust()).rejects.toThrow(MISSING);
    expect([...problems()]).toEqual([problem, problem]);
    await troupe.close();
  });

  it.each<[string, Partial<Record<keyof TrustStore, () => unknown>>]>([
    ['returns no list', { list: () => ({}) }],
    ['returns a list with null', { list: () => [null] }],
    [
      'fails to start a watch',
      {
        watch: () => {
          throw new Error('watch failed');
        },
      },
    ],
    ['returns no function to end a watch', { watch: () => Promise.resolve() }],
  ])('has a diagnostic if the store %s, and start and close continue', async (_, broken) => {
    await write({ lamp: { command: MISSING } });
    const trustStore = { ...createMemoryTrustStore(), ...broken } as TrustStore;
    const { troupe, events } = make({ trustStore });
    await troupe.start();
    expect(substate(troupe)).toBe('awaitingTrust');
    await troupe.close();
    const kinds = events.of('diagnostic').map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(new Set(['trust-store-problem']));
  });

  it('in a corrupt file does not apply, and is reported with the name of the file', async () => {
    await write({ lamp: { command: MISSING } });
    const folder = join(root, 'trusted');
    const first = make({ trustStore: createFileTrustStore({ folder }) });
    await first.troupe.start();
    const hash = first.troupe.connection('lamp')?.status.trustRequest?.hash ?? '';
    await expect(first.troupe.connection('lamp')?.trust()).rejects.toThrow(MISSING);
    expect(existsSync(join(folder, `${hash}.json`))).toBe(true);
    await writeFile(join(folder, `${hash}.json`), '{');
    const { troupe, events } = make({ trustStore: createFileTrustStore({ folder }) });
    await troupe.start();
    expect(substate(troupe)).toBe('awaitingTrust');
    expect(events.of('diagnostic').map(({ message }) => message)).toEqual([
      expect.stringContaining(`${hash}.json`),
    ]);
  });

  it('requires a store with all its functions', () => {
    for (const trustStore of [true, {}, { has: () => true }]) {
      expect(() => createTroupe({ trustStore: trustStore as never })).toThrow("'trustStore'");
    }
  });
});
