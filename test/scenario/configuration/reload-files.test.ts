/** Files that change while the troupe runs: read again on demand, or because they are watched. */
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TroupeOptions } from '../../../src/options.js';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import { Replayer } from '../../../src/event-log/replay/replayer.js';
import type { Troupe } from '../../../src/runtime/troupe.js';
import { MemoryLog } from '../../support/memory-log.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents } from '../../support/event-record.js';
import { fakeProgram, FakeServer } from '../../support/fake-server.js';
import { useInotify } from '../../support/inotify.js';
import { makeTroupe } from '../../support/test-troupe.js';
import { useLeakCheck } from '../../support/leak-check.js';

useInotify();
useLeakCheck();
useCrashWatch();

let file: string;
let folder: string;
let troupe: Troupe | undefined;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-reload-')));
  file = join(folder, 'servers.json');
});
afterEach(async () => {
  await troupe?.close();
  troupe = undefined;
  rmSync(folder, { recursive: true, force: true });
});

function write(servers: Record<string, ServerConfig>, path = file): void {
  writeFileSync(path, JSON.stringify({ mcpServers: servers }));
}

async function started(options: TroupeOptions = {}) {
  const made = makeTroupe({ config: file, seed: 1, ...options });
  troupe = made;
  const events = recordEvents(made.events$);
  await made.start();
  const names = (): string[] => made.status.map(({ server }) => server);
  /** Resolves when the file was read again and something in it had changed. */
  const whenReloaded = () => events.next('diagnostic', ({ kind }) => kind === 'config-reloaded');
  return { troupe: made, events, names, whenReloaded };
}

describe('a file that is read again', () => {
  it('can name different servers, and unchanged ones keep their session', async () => {
    const [stays, changes, other] = [new FakeServer(), new FakeServer(), new FakeServer()];
    write({
      stays: fakeProgram(stays),
      changes: fakeProgram(changes),
      leaves: fakeProgram(new FakeServer()),
    });
    const { troupe } = await started();
    write({ arrives: fakeProgram(new FakeServer()), changes: fakeProgram(other), stays: fakeProgram(stays) });
    await expect(troupe.reload()).resolves.toMatchObject({
      added: ['arrives'],
      removed: ['leaves'],
      changed: ['changes'],
      unchanged: ['stays'],
      sources: [{ path: file, ok: true }],
    });
    expect([stays.transports.length, changes.transport.isOpen, other.transport.isOpen]).toEqual([
      1,
      false,
      true,
    ]);
  });

  it.each([
    ['half written', '{ "mcpServers": { "a": { "comm'],
    ['empty', ''],
    ['deleted', undefined],
  ])('and is %s removes no server and is reported, and counts again once it is valid', async (_, text) => {
    const server = new FakeServer();
    write({ a: fakeProgram(server) });
    const { troupe, events } = await started();
    if (text === undefined) rmSync(file);
    else writeFileSync(file, text);
    const report = await troupe.reload();
    expect(report).toMatchObject({ removed: [], changed: [], unchanged: ['a'], sources: [{ ok: false }] });
    expect(events.of('diagnostic')).toMatchObject([{ kind: 'config-problem' }]);
    expect(events.of('diagnostic')[0]?.message).toContain(file);
    expect(server.transport.isOpen).toBe(true);
    write({ a: fakeProgram(server), b: fakeProgram(new FakeServer()) });
    await expect(troupe.reload()).resolves.toMatchObject({ added: ['b'], unchanged: ['a'], problems: [] });
    expect(server.transports).toHaveLength(1);
  });

  it('changes the default that is used for an input without an answer', async () => {
    const server = new FakeServer();
    const writeDefault = (text?: string): void => {
      const mcpServers = { a: { ...fakeProgram(server), args: ['${input:room}'] } };
      writeFileSync(file, JSON.stringify({ mcpServers, inputs: [{ id: 'room', default: text }] }));
    };
    writeDefault();
    const { troupe } = await started();
    expect(troupe.status).toMatchObject([{ state: 'failed', error: { code: 'variable-missing' } }]);
    writeDefault('hall');
    await expect(troupe.reload()).resolves.toMatchObject({ changed: ['a'] });
    expect(troupe.status).toMatchObject([{ state: 'ready' }]);
    writeDefault('attic');
    await expect(troupe.reload()).resolves.toMatchObject({ changed: ['a'] });
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 2 }]);
    writeDefault('attic');
    await expect(troupe.reload()).resolves.toMatchObject({ unchanged: ['a'] });
  });

  it('is found again after the host changed its working directory, and so are the paths in it', async () => {
    const [server, named] = [new FakeServer(), new FakeServer()];
    write({ a: fakeProgram(server) });
    const before = process.cwd();
    try {
      process.chdir(folder);
      const { troupe } = await started({ config: 'servers.json', servers: { named: fakeProgram(named) } });
      process.chdir(tmpdir());
      const { added, unchanged } = await troupe.reload();
      expect({ added, unchanged }).toEqual({ added: [], unchanged: ['named', 'a'] });
      await troupe.add('late', fakeProgram(new FakeServer()));
      process.chdir(before);
      await expect(troupe.reload()).resolves.toMatchObject({ changed: [], problems: [] });
    } finally {
      process.chdir(before);
    }
    expect([server.transports.length, named.transports.length]).toEqual([1, 1]);
  });

  it('and is invalid keeps its server, even if another file names that server as well', async () => {
    const [server, other] = [new FakeServer(), new FakeServer()];
    const second = join(folder, 'second.json');
    write({ a: fakeProgram(server) });
    write({ a: fakeProgram(other), b: fakeProgram(new FakeServer()) }, second);
    const { troupe } = await started({ config: [file, second] });
    writeFileSync(file, '{');
    write({ a: fakeProgram(other) }, second);
    await expect(troupe.reload()).resolves.toMatchObject({ removed: ['b'], changed: [], unchanged: ['a'] });
    expect([server.transport.isOpen, other.transports.length]).toEqual([true, 0]);
    rmSync(second);
    write({}, file);
    await expect(troupe.reload()).resolves.toMatchObject({ removed: ['a'] });
  });
});

describe('a watched file', () => {
  it('is read again when it is written, and when it is replaced', async () => {
    const server = new FakeServer();
    write({ a: fakeProgram(server) });
    const { whenReloaded, names } = await started({ watch: true });
    let reloaded = whenReloaded();
    write({ a: fakeProgram(server), b: fakeProgram(new FakeServer()) });
    await reloaded;
    expect(names()).toEqual(['a', 'b']);
    reloaded = whenReloaded();
    write({ a: fakeProgram(server), c: fakeProgram(new FakeServer()) }, `${file}.tmp`);
    renameSync(`${file}.tmp`, file);
    await reloaded;
    await troupe?.connection('c')?.ready();
    expect(server.transports).toHaveLength(1);
  });

  it('is recorded from its first change to the close, and replays', async () => {
    write({ a: fakeProgram(new FakeServer()) });
    const log = new MemoryLog();
    const { troupe, whenReloaded } = await started({ watch: true, record: log });
    const reloaded = whenReloaded();
    write({ b: fakeProgram(new FakeServer()) });
    await reloaded;
    await troupe.reload();
    await troupe.close();
    const { header, entries } = log.read();
    const received = entries.flatMap((entry) =>
      'event' in entry && entry.to === '$:configuration#1' ? [entry.event.type] : [],
    );
    expect(new Set(received)).toEqual(
      new Set([
        'xstate.init',
        'files.changed',
        'xstate.after.rest.configuration.changed',
        'xstate.done.actor.applyConfiguration',
        'reload.asked',
        'configuration.close',
      ]),
    );
    expect(received.at(-1)).toBe('configuration.close');
    const replayer = new Replayer(header);
    for (const entry of entries) replayer.take(entry);
    replayer.end();
    expect([replayer.divergences, replayer.whyNoRerun]).toEqual([[], undefined]);
    expect(replayer.fold.stateOf('$:configuration#1')).toMatchObject({ status: 'done', state: 'closed' });
  });

  it('can be created after the start', async () => {
    const { whenReloaded, names } = await started({ watch: true, config: join(folder, 'x', 'servers.json') });
    const reloaded = whenReloaded();
    renameSync(made('x'), join(folder, 'x'));
    await reloaded;
    expect(names()).toEqual(['late']);
  });

  it('can be one that discovery finds once it exists', async () => {
    mkdirSync(join(folder, '.git'));
    const discover = { cwd: folder, user: false };
    const { whenReloaded, names } = await started({ watch: true, config: [], discover, trust: 'all' });
    const reloaded = whenReloaded();
    write({ found: fakeProgram(new FakeServer()) }, join(folder, '.mcp.json'));
    await reloaded;
    expect(names()).toEqual(['found']);
  });

  it.each([
    ['without a project before', [], '.mcp.json'],
    ['in a new folder of the project', ['.git'], '.vscode/mcp.json'],
    ['nearer than the project before', ['../.git'], '.mcp.json'],
    ['between the working directory and the project before', ['../../.git'], '../.cursor/mcp.json'],
  ])('can be one that appears %s', async (_, folders, place) => {
    const work = join(folder, 'repo', 'packages', 'one');
    mkdirSync(work, { recursive: true });
    for (const each of folders) mkdirSync(join(work, each), { recursive: true });
    const discover = { cwd: work, user: false };
    const { whenReloaded, names } = await started({ watch: true, config: [], discover, trust: 'all' });
    const reloaded = whenReloaded();
    mkdirSync(dirname(join(work, place)), { recursive: true });
    write({ found: fakeProgram(new FakeServer()) }, join(work, place));
    await reloaded;
    expect(names()).toEqual(['found']);
  });

  it('that is half written removes no server, and counts again once it is valid', async () => {
    const server = new FakeServer();
    write({ a: fakeProgram(server) });
    const { events, names } = await started({ watch: true });
    const reported = events.next('diagnostic', ({ kind }) => kind === 'config-problem');
    writeFileSync(file, '{ "mcpServers": {');
    await reported;
    expect(names()).toEqual(['a']);
    expect(server.transport.isOpen).toBe(true);
    const reloaded = events.next('diagnostic', ({ kind }) => kind === 'config-reloaded');
    write({ b: fakeProgram(new FakeServer()) });
    await reloaded;
    await events.when('connection.removed');
    expect(names()).toEqual(['b']);
  });

  /** A folder with a file, beside the place that is watched. */
  function made(name: string): string {
    const path = mkdtempSync(join(folder, name));
    write({ late: fakeProgram(new FakeServer()) }, join(path, 'servers.json'));
    return path;
  }
});
