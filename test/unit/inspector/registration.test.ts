/** How running inspections are found, and that nobody else can find or imitate them. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { connect, createServer as createSocketServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileSource } from '../../../src/inspector/file-source.js';
import { INSPECTION_PATHS } from '../../../src/inspector/page-protocol.js';
import {
  inspectionFolder,
  registerInspection,
  runningInspections,
  type RegisteredInspection,
} from '../../../src/inspector/registration.js';
import { openInspectionServer, type InspectionServer } from '../../../src/inspector/inspection-server.js';
import type { InspectionSource } from '../../../src/inspector/inspection-source.js';
import { systemClock } from '../../../src/ports.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { PageClient } from '../../support/page-client.js';

useLeakCheck();
useCrashWatch();

const TOKEN = 'a'.repeat(43);

let folder: string;
let server: InspectionServer;
beforeEach(async () => {
  folder = join(mkdtempSync(join(tmpdir(), 'troupe-runtime-')), 'troupe');
  const source = new FileSource([], 'test', systemClock);
  server = await openInspectionServer({ source, clock: systemClock, port: 0 });
});
afterEach(async () => {
  await server.close();
  rmSync(join(folder, '..'), { recursive: true, force: true });
});

const running = (fields: Partial<RegisteredInspection> = {}): RegisteredInspection => ({
  pid: process.pid,
  url: server.url,
  title: 'agent',
  mode: 'live',
  startedAt: 1_000,
  ...fields,
});

/** A source whose pages stay open. */
class Endless implements InspectionSource {
  watch(page: Writable): void {
    page.write('{}\n');
  }

  log(): string[] {
    return [];
  }

  async close(): Promise<void> {}
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** A file that anybody could have written. */
function plant(pid: number, fields: object, mode = 0o600): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${pid}.json`);
  writeFileSync(file, JSON.stringify({ troupeInspection: 1, ...running({ pid }), ...fields }));
  chmodSync(file, mode);
  return file;
}

describe('the folder of running inspections', () => {
  it("is in the user's runtime folder, or else in the user's state folder.", async () => {
    expect(await inspectionFolder({ XDG_RUNTIME_DIR: '/run/user/1' })).toBe(join('/run/user/1', 'troupe'));
    for (const runtime of ['', 'relative'])
      expect(await inspectionFolder({ XDG_RUNTIME_DIR: runtime })).toMatch(/troupe.*inspections$/);
  });

  it('is created for the user only, with its files, which are deleted in the end.', async () => {
    const registration = await registerInspection(running(), folder);
    expect(modeOf(folder)).toBe('700');
    expect(readdirSync(folder).toSorted()).toEqual([`${process.pid}.html`, `${process.pid}.json`]);
    for (const name of readdirSync(folder)) expect(modeOf(join(folder, name))).toBe('600');
    const [found, ...others] = await runningInspections(folder);
    expect(others).toEqual([]);
    expect(found).toEqual({ ...running(), door: registration.door });
    const door = readFileSync(registration.door, 'utf8');
    expect(door).toContain(`content="0; url=${server.url}"`);
    await registration.remove();
    await registration.remove();
    expect(readdirSync(folder)).toEqual([]);
    expect(await runningInspections(folder)).toEqual([]);
  });

  it('is made private again if it was open to others, and is refused if it is not a folder.', async () => {
    mkdirSync(folder, { mode: 0o777, recursive: true });
    chmodSync(folder, 0o777);
    await (await registerInspection(running(), folder)).remove();
    expect(modeOf(folder)).toBe('700');
    const link = `${folder}-link`;
    symlinkSync(folder, link);
    await expect(registerInspection(running(), link)).rejects.toThrow(link);
  });

  it('is empty if it does not exist.', async () => {
    expect(await runningInspections(join(folder, 'nowhere'))).toEqual([]);
  });
});

describe('a running inspection', () => {
  it('is listed newest first.', async () => {
    const [early, late] = await Promise.all([startIdler(), startIdler()]);
    try {
      plant(early.pid ?? 0, { startedAt: 1 });
      plant(late.pid ?? 0, { startedAt: 2 });
      const found = await runningInspections(folder);
      expect(found.map(({ pid }) => pid)).toEqual([late.pid, early.pid]);
    } finally {
      await Promise.all([end(early), end(late)]);
    }
  });

  it('is not listed if its process has ended, or if its port belongs to another program by now.', async () => {
    const ended = await startIdler();
    await end(ended);
    const gone = plant(ended.pid ?? 0, {});
    writeFileSync(join(folder, `${ended.pid}.html`), 'door');
    const stranger = createServer((_, response) => response.writeHead(404).end());
    stranger.listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const { port } = stranger.address() as AddressInfo;
    plant(process.pid, { url: `http://127.0.0.1:${port}/#${TOKEN}` });
    expect(await runningInspections(folder)).toEqual([]);
    expect(existsSync(gone)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
    stranger.close();
    await once(stranger, 'close');
    const closed = plant(process.pid, { url: `http://127.0.0.1:${port}/#${TOKEN}` });
    expect(await runningInspections(folder)).toEqual([]);
    // Its process is alive, and the port is unused.
    expect(existsSync(closed)).toBe(true);
  });

  it('is not listed if its port belongs to a program that does not speak HTTP.', async () => {
    const stranger = createSocketServer((socket) => {
      socket.on('error', () => {}).resume();
      socket.end('220 mail\r\n');
    });
    stranger.listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const { port } = stranger.address() as AddressInfo;
    const file = plant(process.pid, { url: `http://127.0.0.1:${port}/#${TOKEN}` });
    expect(await runningInspections(folder)).toEqual([]);
    expect(existsSync(file)).toBe(false);
    stranger.close();
    await once(stranger, 'close');
  });

  it('is listed if it has the maximum number of pages open.', async () => {
    const full = await openInspectionServer({ source: new Endless(), clock: systemClock, port: 0 });
    const file = plant(process.pid, { url: full.url });
    const page = new PageClient(full.url);
    const pages = await Promise.all(Array.from({ length: 5 }, async () => page.watch()));
    expect((await page.ask(INSPECTION_PATHS.stream)).status).toBe(503);
    expect(await runningInspections(folder)).toHaveLength(1);
    expect(existsSync(file)).toBe(true);
    await Promise.all(pages.map((one) => one.leave()));
    await full.close();
  });

  it('is listed if it accepts no more connections.', async () => {
    const file = plant(process.pid, {});
    const port = Number(new URL(server.url).port);
    const sockets = Array.from({ length: 130 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    try {
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      expect(await runningInspections(folder)).toHaveLength(1);
      expect(existsSync(file)).toBe(true);
    } finally {
      const open = sockets.filter(({ closed }) => !closed);
      await Promise.all(open.map((socket) => once(socket.destroy(), 'close')));
    }
  });

  it('is listed if it is too busy to answer.', async () => {
    const sockets: Socket[] = [];
    const busy = createSocketServer((socket) => void sockets.push(socket));
    busy.listen(0, '127.0.0.1');
    await once(busy, 'listening');
    try {
      plant(process.pid, { url: `http://127.0.0.1:${(busy.address() as AddressInfo).port}/#${TOKEN}` });
      expect(await runningInspections(folder)).toHaveLength(1);
    } finally {
      for (const socket of sockets) socket.destroy();
      busy.close();
      await once(busy, 'close');
    }
  });

  it.each<[string, object]>([
    ['names another host', { url: `http://evil.example/#${TOKEN}` }],
    ['names another scheme', { url: `javascript:alert(1)//http://127.0.0.1:1/#${TOKEN}` }],
    ['contains markup in its address', { url: `http://127.0.0.1:1/#${TOKEN}"><script>` }],
    ['names another process', { pid: 1 }],
    ['is of another version', { troupeInspection: 2 }],
    ['has an invalid title', { title: 7 }],
    ['has an unknown mode', { mode: 'other' }],
  ])('is not listed if its file %s.', async (_, fields) => {
    plant(process.pid, fields);
    expect(await runningInspections(folder)).toEqual([]);
  });

  it('is not listed if others could have written its file, or if that is not a file.', async () => {
    const file = plant(process.pid, {}, 0o666);
    expect(await runningInspections(folder)).toEqual([]);
    chmodSync(file, 0o600);
    expect(await runningInspections(folder)).toHaveLength(1);
    rmSync(file);
    const real = join(folder, 'real');
    writeFileSync(real, JSON.stringify({ troupeInspection: 1, ...running() }), { mode: 0o600 });
    symlinkSync(real, file);
    expect(await runningInspections(folder)).toEqual([]);
    writeFileSync(join(folder, '12.json'), 'no JSON', { mode: 0o600 });
    mkdirSync(join(folder, '13.json'));
    expect(await runningInspections(folder)).toEqual([]);
  });
});

/** Starts a process that does nothing until it is killed. */
async function startIdler(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' });
  await once(child, 'spawn');
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
