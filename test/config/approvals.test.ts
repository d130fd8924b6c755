import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMemoryApprovalStore, type ApprovalStore } from '../../src/config/approval-store.js';
import { createFileApprovalStore } from '../../src/config/file-approval-store.js';
import { discoverServers } from '../../src/discover.js';
import type { ServerConfig, TroupeOptions, TrustRequest } from '../../src/options.js';
import { systemClock } from '../../src/ports.js';
import { createTroupe, type Troupe } from '../../src/troupe.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { recordEvents } from '../support/event-record.js';
import { useInotify } from '../support/inotify.js';
import { useLeakCheck } from '../support/leak-check.js';

const MISSING = 'no-such-command-of-the-project';
const roots: string[] = [];

describe('an approval', () => {
  useInotify();
  useLeakCheck();
  useCrashWatch();
  const made: Troupe[] = [];
  let root: string;
  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'troupe-approval-')));
    roots.push(root);
  });
  afterEach(() => Promise.all(made.splice(0).map((troupe) => troupe.close())));
  afterAll(() => Promise.all(roots.splice(0).map((each) => rm(each, { recursive: true, force: true }))));

  const file = (): string => join(root, '.mcp.json');
  const write = (servers: Record<string, ServerConfig>): Promise<void> =>
    writeFile(file(), JSON.stringify({ mcpServers: servers }));

  /** What is approved is proven by the failure of a program that is not there. */
  function make(options: TroupeOptions) {
    const config = { path: file(), scope: 'project' } as const;
    const troupe = createTroupe({ policy: { maxAttempts: 1 }, config, ...options });
    made.push(troupe);
    return { troupe, events: recordEvents(troupe.events$) };
  }

  const substate = (troupe: Troupe): string | undefined => troupe.connection('lamp')?.status.substate;

  it('is kept in the store of the host, and counts for its next troupe until the entry changes.', async () => {
    await write({ lamp: { command: MISSING } });
    const approvals = createMemoryApprovalStore();
    const first = make({ approvals });
    await first.troupe.start();
    expect(substate(first.troupe)).toBe('awaitingTrust');
    const { trustRequest } = first.troupe.connection('lamp')?.status ?? {};
    await expect(first.troupe.connection('lamp')?.approve()).rejects.toThrow(MISSING);
    expect(await approvals.list()).toMatchObject([{ server: 'lamp', hash: trustRequest?.hash }]);

    const second = make({ approvals });
    expect((await second.troupe.start()).failed).toMatchObject([
      { name: 'lamp', failure: { code: 'command-not-found' } },
    ]);

    await write({ lamp: { command: MISSING, args: ['--more'] } });
    const third = make({ approvals });
    expect(await third.troupe.start()).toMatchObject({ failed: [], pending: ['lamp'] });
    expect(substate(third.troupe)).toBe('awaitingTrust');
  });

  it('is asked for again where a running server’s entry changes.', async () => {
    await write({ lamp: { command: MISSING } });
    const { troupe } = make({ approvals: createMemoryApprovalStore() });
    await troupe.start();
    await expect(troupe.connection('lamp')?.approve()).rejects.toThrow(MISSING);
    await write({ lamp: { command: MISSING, env: { LD_PRELOAD: './evil.so' } } });
    await troupe.reload();
    expect(troupe.connection('lamp')?.status).toMatchObject({
      substate: 'awaitingTrust',
      trustRequest: { env: ['LD_PRELOAD'] },
    });
  });

  it('that was revoked in the store counts no more for whoever gave it, and can be given again.', async () => {
    await write({ lamp: { command: MISSING } });
    const folder = join(root, 'approvals');
    const { troupe } = make({ approvals: createFileApprovalStore({ folder }) });
    await troupe.start();
    const lamp = troupe.connection('lamp');
    const hash = lamp?.status.trustRequest?.hash ?? '';
    await expect(lamp?.approve()).rejects.toThrow(MISSING);
    await expect(lamp?.retry()).rejects.toThrow(MISSING);
    await createFileApprovalStore({ folder }).revoke(hash);
    await expect(lamp?.retry()).rejects.toMatchObject({ code: 'TRUST_REQUIRED' });
    expect(substate(troupe)).toBe('awaitingTrust');
    await expect(lamp?.approve()).rejects.toThrow(MISSING);
  });

  it('that was revoked in the store gives the name back to another source’s entry.', async () => {
    await write({ lamp: { command: `${MISSING}-theirs` } });
    const mine = join(root, 'mine.json');
    const name = (servers: object): Promise<void> => writeFile(mine, JSON.stringify({ mcpServers: servers }));
    await name({});
    const approvals = createMemoryApprovalStore();
    const { troupe } = make({ approvals, config: [{ path: file(), scope: 'project' }, mine] });
    await troupe.start();
    const lamp = troupe.connection('lamp');
    const hash = lamp?.status.trustRequest?.hash ?? '';
    await expect(lamp?.approve()).rejects.toThrow(`${MISSING}-theirs`);
    await name({ lamp: { command: `${MISSING}-mine` } });
    await expect(troupe.reload()).resolves.toMatchObject({ unchanged: ['lamp'] });
    await approvals.revoke(hash);
    await expect(troupe.reload()).resolves.toMatchObject({ changed: ['lamp'] });
    expect(lamp?.status.error?.message).toContain(`${MISSING}-mine`);
  });

  it('that was revoked in the store stays so where the store cannot be read later.', async () => {
    await write({ lamp: { command: MISSING } });
    const kept = createMemoryApprovalStore();
    let isBroken = false;
    const unlessBroken = async <T>(read: () => Promise<T> | T): Promise<T> => {
      if (isBroken) throw new Error('the disk is gone');
      return read();
    };
    const approvals: ApprovalStore = {
      approve: (request) => kept.approve(request),
      revoke: (hash) => kept.revoke(hash),
      has: (hash) => unlessBroken(() => kept.has(hash)),
      list: () => unlessBroken(() => kept.list()),
    };
    const { troupe } = make({ approvals });
    await troupe.start();
    const lamp = troupe.connection('lamp');
    const hash = lamp?.status.trustRequest?.hash ?? '';
    await expect(lamp?.approve()).rejects.toThrow(MISSING);
    await kept.revoke(hash);
    await troupe.reload();
    isBroken = true;
    await expect(lamp?.retry()).rejects.toMatchObject({ code: 'TRUST_REQUIRED' });
  });

  it('counts for whoever gave it where the store keeps it and cannot be read.', async () => {
    await write({ lamp: { command: MISSING } });
    const broken = (): Promise<never> => Promise.reject(new Error('the disk is gone'));
    const { troupe } = make({ approvals: { ...createMemoryApprovalStore(), has: broken, list: broken } });
    await troupe.start();
    await expect(troupe.connection('lamp')?.approve()).rejects.toThrow(MISSING);
    await expect(troupe.connection('lamp')?.retry()).rejects.toThrow(MISSING);
  });

  it('is forgotten with the troupe where the host gives no store.', async () => {
    await write({ lamp: { command: MISSING } });
    const first = make({});
    await first.troupe.start();
    await expect(first.troupe.connection('lamp')?.approve()).rejects.toThrow(MISSING);
    await expect(first.troupe.connection('lamp')?.retry()).rejects.toThrow(MISSING);
    const second = make({});
    await second.troupe.start();
    expect(substate(second.troupe)).toBe('awaitingTrust');
  });

  it('of a function is kept too, so that it is asked once; its no is not.', async () => {
    await write({ lamp: { command: MISSING } });
    const approvals = createMemoryApprovalStore();
    const trust = vi.fn<(request: TrustRequest) => boolean>(() => false);
    const first = make({ approvals, trust });
    await first.troupe.start();
    expect(substate(first.troupe)).toBe('awaitingTrust');
    trust.mockReturnValue(true);
    await expect(first.troupe.connection('lamp')?.retry()).rejects.toThrow(MISSING);
    expect(trust).toHaveBeenCalledTimes(2);
    const second = make({ approvals, trust });
    await second.troupe.start();
    expect(trust).toHaveBeenCalledTimes(2);
    expect(substate(second.troupe)).not.toBe('awaitingTrust');
  });

  it('that was given elsewhere starts what waits for it.', async () => {
    await write({ lamp: { command: MISSING }, boat: { command: MISSING } });
    const folder = join(root, 'approvals');
    const { troupe, events } = make({ approvals: createFileApprovalStore({ folder }) });
    await troupe.start();
    const request = troupe.connection('lamp')?.status.trustRequest;
    const failed = events.when('connection.failed', ({ connection }) => connection === 'lamp');
    const elsewhere = createFileApprovalStore({ folder });
    // The watch of the folder begins some time after the start.
    await vi.waitFor(
      async () => {
        if (request) await elsewhere.approve(request);
        expect(events.of('connection.failed')).toHaveLength(1);
      },
      { timeout: 15_000, interval: 200 },
    );
    expect((await failed).failure.code).toBe('command-not-found');
    expect(troupe.connection('boat')?.status.substate).toBe('awaitingTrust');
  });

  it('lets the project’s entry take the name of another one, and only that entry.', async () => {
    await mkdir(join(root, '.cursor'));
    await write({ lamp: { command: `${MISSING}-theirs` } });
    const approvals = createMemoryApprovalStore();
    const options: TroupeOptions = {
      config: [{ path: file(), scope: 'project' }],
      discover: { cwd: root, user: false, extensions: { mine: { lamp: { command: `${MISSING}-mine` } } } },
      approvals,
    };
    const before = await discoverServers({ ...options, cwd: root });
    expect(before.servers).toMatchObject([
      { name: 'lamp', scope: 'extension', trusted: true, trustRequest: null },
    ]);
    expect(before.heldBack).toMatchObject([{ name: 'lamp', trusted: false }]);
    const { failed } = await make(options).troupe.start();
    expect(failed[0]?.failure.message).toContain(`${MISSING}-mine`);

    const request = before.heldBack[0]?.trustRequest;
    if (request) await approvals.approve(request);
    const after = await discoverServers({ ...options, cwd: root });
    expect(after.servers).toMatchObject([
      { name: 'lamp', scope: 'project', trusted: true, trustRequest: null },
    ]);
    expect(after.heldBack).toEqual([]);
    expect((await make(options).troupe.start()).failed[0]?.failure.message).toContain(`${MISSING}-theirs`);

    await write({ lamp: { command: `${MISSING}-worse` } });
    expect((await make(options).troupe.start()).failed[0]?.failure.message).toContain(`${MISSING}-mine`);
  });

  it('cannot be read from a store that is broken: nothing is trusted, the host hears why, and nothing breaks.', async () => {
    await write({ lamp: { command: MISSING } });
    const broken = (): Promise<never> => Promise.reject(new Error('the disk is gone'));
    const approvals: ApprovalStore = { has: broken, list: broken, approve: broken, revoke: broken };
    const { troupe, events } = make({ approvals });
    await troupe.start();
    expect(substate(troupe)).toBe('awaitingTrust');
    const told = () => new Set(events.of('diagnostic').map(({ kind, message }) => `${kind}: ${message}`));
    expect(told()).toEqual(new Set(['approvals-problem: An approval could not be read: the disk is gone']));
    // Whoever approves is obeyed all the same, for as long as the troupe lives.
    await expect(troupe.connection('lamp')?.approve()).rejects.toThrow(MISSING);
    expect(told()).toContain('approvals-problem: An approval could not be written: the disk is gone');
    const { problems } = await discoverServers({ config: { path: file(), scope: 'project' }, approvals });
    expect(problems).toMatchObject([
      { severity: 'warning', message: 'An approval could not be read: the disk is gone' },
    ]);
  });

  it('is asked of a store that never answers for a bounded time: the start, an approval and the close go on.', async () => {
    await write({ lamp: { command: MISSING } });
    const never = (): Promise<never> => new Promise(() => {});
    const approvals: ApprovalStore = { has: never, list: never, approve: never, revoke: never };
    // Files are read in real time, so time cannot stand still here; it hurries.
    const clock = {
      ...systemClock,
      setTimeout: (fn: () => void, ms: number) => systemClock.setTimeout(fn, ms / 50),
    };
    const { troupe, events } = make({ approvals, clock });
    await troupe.start();
    expect(substate(troupe)).toBe('awaitingTrust');
    const told = () => new Set(events.of('diagnostic').map(({ message }) => message));
    expect(told()).toEqual(new Set(['An approval could not be read: the store did not answer within 2 s']));
    await expect(troupe.connection('lamp')?.approve()).rejects.toThrow(MISSING);
    expect(told()).toContain('An approval could not be written: the store did not answer within 2 s');
    await troupe.close();
  });

  it.each<[string, Partial<Record<keyof ApprovalStore, () => unknown>>, string]>([
    ['gives no list', { list: () => ({}) }, 'An approval could not be read: '],
    ['gives a list of nothing', { list: () => [null] }, 'An approval could not be read: '],
    [
      'cannot be followed',
      {
        watch: () => {
          throw new Error('no eyes');
        },
      },
      'Approvals from elsewhere could not be followed: no eyes',
    ],
    [
      'cannot be left alone',
      { watch: () => Promise.resolve() },
      'Approvals from elsewhere could not be left alone: ',
    ],
  ])('is told where the store %s, and start and close go on.', async (_, broken, why) => {
    await write({ lamp: { command: MISSING } });
    const approvals = { ...createMemoryApprovalStore(), ...broken } as ApprovalStore;
    const { troupe, events } = make({ approvals });
    await troupe.start();
    expect(substate(troupe)).toBe('awaitingTrust');
    await troupe.close();
    const told = events.of('diagnostic').map(({ message }) => message);
    expect(told.some((message) => message.startsWith(why))).toBe(true);
  });

  it('in a file that is broken counts for nothing, and is told with its name.', async () => {
    await write({ lamp: { command: MISSING } });
    const folder = join(root, 'approvals');
    const first = make({ approvals: createFileApprovalStore({ folder }) });
    await first.troupe.start();
    const hash = first.troupe.connection('lamp')?.status.trustRequest?.hash ?? '';
    await expect(first.troupe.connection('lamp')?.approve()).rejects.toThrow(MISSING);
    expect(existsSync(join(folder, `${hash}.json`))).toBe(true);
    await writeFile(join(folder, `${hash}.json`), '{');
    const { troupe, events } = make({ approvals: createFileApprovalStore({ folder }) });
    await troupe.start();
    expect(substate(troupe)).toBe('awaitingTrust');
    expect(events.of('diagnostic').map(({ message }) => message)).toEqual([
      expect.stringContaining(`${hash}.json is no approval that can be understood`),
    ]);
  });

  it('is refused where what the host gives is no store.', () => {
    for (const approvals of [true, {}, { has: () => true }]) {
      expect(() => createTroupe({ approvals: approvals as never })).toThrow(
        "field 'approvals': expected an object with the functions 'has', 'list', 'approve' and 'revoke'",
      );
    }
  });
});
