import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { TransportError } from '../../../../src/failures/transport-error.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { endSessionsAfterEach, faulty, script, session, started } from '../../../support/recorded-session.js';

useLeakCheck();
endSessionsAfterEach();

const folder = mkdtempSync(join(tmpdir(), 'stdio-launch-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string, mode: number): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

describe('starting a stdio server', () => {
  it('gives a running process with its number and nothing to report', async () => {
    const { transport } = await started(faulty('plain'));
    expect(transport.kind).toBe('stdio');
    expect(process.kill(transport.pid!, 0)).toBe(true);
    expect(transport.ended).toBeUndefined();
    expect(transport.stderrTail()).toEqual([]);
  });

  it('runs it in the given directory, with the given arguments, the given environment and the mark of its owner', async () => {
    const source = `each(({ id }) => send({ id, result: {
      cwd: process.cwd(), argv: process.argv.slice(1), env: Object.keys(process.env) } }))`;
    const { command, args = [] } = script(source);
    const env = { ONLY: 'this' };
    const server = await started({ command, args: [...args, 'a b', '$HOME'] }, { cwd: folder, env });
    expect(await server.ask(1)).toMatchObject({
      result: { cwd: folder, argv: ['a b', '$HOME'], env: ['ONLY', 'TROUPE_OWNER'] },
    });
  });

  it('finds the command in the PATH of the given environment', async () => {
    file('lantern', '#!/bin/sh\ncat >/dev/null\n', 0o755);
    const server = await started({ command: 'lantern' }, { env: { PATH: `${folder}:/usr/bin:/bin` } });
    expect(server.transport.pid).toBeGreaterThan(0);
  });

  it.each([
    [
      'a missing command',
      { command: 'lantern-that-does-not-exist' },
      'command-not-found',
      /'lantern-that-does-not-exist' was not found/,
    ],
    [
      'a missing file',
      { command: './nowhere/lantern' },
      'command-not-found',
      /'.\/nowhere\/lantern' was not found/,
    ],
    [
      'a path through a file',
      { command: file('plain', '', 0o644) + '/x' },
      'command-not-found',
      /was not found/,
    ],
    [
      'a missing directory',
      { command: 'node', cwd: join(folder, 'gone') },
      'cwd-not-found',
      /gone' does not exist/,
    ],
    [
      'a missing directory and a missing command',
      { command: 'nope', cwd: join(folder, 'gone') },
      'cwd-not-found',
      /gone' does not exist/,
    ],
    [
      'a file as directory',
      { command: 'node', cwd: file('cwd', '', 0o644) },
      'cwd-not-found',
      /cwd' is not a directory/,
    ],
    [
      'a file without the right to execute',
      { command: file('data', '{}', 0o644) },
      'command-not-executable',
      /data' may not be executed \(EACCES\)/,
    ],
    [
      'a script whose interpreter is missing',
      { command: file('odd', '#!/no/such/sh\n', 0o755) },
      'command-not-executable',
      /interpreter it names/,
    ],
    [
      'an argument that cannot be passed',
      { command: 'node', args: ['secret\0'] },
      'spawn-failed',
      /'node' could not be started \(ERR_INVALID_ARG_VALUE\)/,
    ],
    [
      'arguments that are too long',
      { command: 'node', args: ['x'.repeat(3_000_000)] },
      'spawn-failed',
      /\(E2BIG\)/,
    ],
  ])('names %s', async (_, launch, code, message) => {
    const { transport, closes } = session(launch);
    const error = await transport.start().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TransportError);
    expect((error as TransportError).failure).toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    expect(JSON.stringify(error)).not.toContain('secret');
    expect(closes).toBe(0);
    await transport.close();
  });

  it.each([
    ['a command with its arguments', { command: 'node server.mjs --stdio' }, /into 'args'/],
    ['a path of a program with its arguments', { command: `${process.execPath} server.mjs` }, /into 'args'/],
    [
      'a missing path with a space in it',
      { command: '/opt/My Apps/lantern' },
      /read as a path: \/opt\/My Apps\/lantern$/,
    ],
    ['arguments that are too long', { command: 'node', args: ['x'.repeat(3_000_000)] }, /longer than/],
    ['a missing command', { command: 'lantern-that-does-not-exist' }, /Is it installed/],
    [
      'a missing relative path',
      { command: './lantern', cwd: '/usr/share/' },
      /read as a path: \/usr\/share\/lantern$/,
    ],
  ])('says what to do about %s', async (_, launch, hint) => {
    const { transport } = session(launch);
    await expect(transport.start()).rejects.toMatchObject({ failure: { hint: expect.stringMatching(hint) } });
    await transport.close();
  });

  it('masks what it names', async () => {
    const launch = { command: 'lantern-s3cr3t' };
    const { transport } = session(launch, { mask: (text) => text.replaceAll('s3cr3t', '***') });
    await expect(transport.start()).rejects.toThrow("The command 'lantern-***' was not found.");
  });

  it('starts once', async () => {
    const { transport } = await started(faulty('plain'));
    await expect(transport.start()).rejects.toMatchObject({ failure: { code: 'internal' } });
  });

  it('reports the end of a process that exits at once, with what it said', async () => {
    const server = await started(faulty('exit-at-once'));
    await server.untilClosed();
    expect(server.transport.ended).toEqual({
      code: 'process-exited',
      message: 'The server exited with code 3.',
      exit: { code: 3, signal: null },
      hint: 'The last line on its stderr was: lantern: cannot start, LANTERN_REGION is not set',
      stderrTail: ['lantern: cannot start, LANTERN_REGION is not set'],
    });
    await expect(server.transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toMatchObject({
      written: false,
      failure: { code: 'process-exited' },
    });
  });
});

describe('closing while starting', () => {
  it('spawns nothing when it comes at once', async () => {
    const { transport } = session(faulty('deaf-to-shutdown'));
    const starting = transport.start();
    await transport.close();
    await expect(starting).rejects.toThrow('The session was closed.');
    expect(transport.pid).toBeUndefined();
  });

  it.each(['close', 'kill'] as const)('leaves nothing when it comes after the spawn, by %s', async (way) => {
    const server = session(faulty('deaf-to-shutdown'));
    const starting = server.transport.start();
    await Promise.resolve();
    await Promise.resolve();
    const pid = server.transport.pid!;
    const closing = server.transport[way]();
    await expect(starting).rejects.toThrow('The session was closed.');
    await closing;
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(server.closes).toBe(1);
  });

  it('keeps a transport that was closed from being started', async () => {
    const server = session(faulty('plain'));
    await server.transport.close();
    expect(server.closes).toBe(1);
    await expect(server.transport.start()).rejects.toThrow('The session was closed.');
    await expect(server.transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toMatchObject({
      written: false,
    });
  });
});
