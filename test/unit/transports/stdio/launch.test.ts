import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { TransportError } from '../../../../src/failures/transport-error.js';
import { THIS_PLATFORM } from '../../../../src/platform/platform.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { endSessionsAfterEach, faulty, script, session, started } from '../../../support/recorded-session.js';

useLeakCheck();
endSessionsAfterEach();

const isWindows = THIS_PLATFORM.name === 'win32';
const folder = mkdtempSync(join(tmpdir(), 'stdio-launch-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string, mode: number): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

describe('starting a stdio server', () => {
  it('gives a running process with its id and no report', async () => {
    const { transport } = await started(faulty('plain'));
    expect(transport.kind).toBe('stdio');
    expect(process.kill(transport.pid!, 0)).toBe(true);
    expect(transport.ended).toBeUndefined();
    expect(transport.stderrTail()).toEqual([]);
  });

  it('runs in the given directory, with the given arguments, environment and the mark of its owner', async () => {
    const source = `each(({ id }) => send({ id, result: {
      cwd: process.cwd(), argv: process.argv.slice(1), env: Object.keys(process.env) } }))`;
    const { command, args = [] } = script(source);
    const env = { ONLY: 'this' };
    const server = await started({ command, args: [...args, 'a b', '$HOME'] }, { cwd: folder, env });
    expect(await server.ask(1)).toMatchObject({
      result: {
        cwd: folder,
        argv: ['a b', '$HOME'],
        // Windows adds what every program there needs, and nobody there could read a mark.
        env: isWindows ? expect.arrayContaining(['ONLY']) : ['ONLY', 'TROUPE_OWNER', 'TROUPE_SESSION'],
      },
    });
  });

  it('finds the command in the PATH of the given environment', async () => {
    if (isWindows) file('lantern.cmd', `@"${process.execPath}" -e "process.stdin.resume()"\r\n`, 0o755);
    else file('lantern', '#!/bin/sh\ncat >/dev/null\n', 0o755);
    const PATH = [folder, process.env['PATH']].join(delimiter);
    const server = await started({ command: 'lantern' }, { env: { PATH } });
    expect(server.transport.pid).toBeGreaterThan(0);
  });

  it.each([
    [
      'a missing command',
      { command: 'lantern-that-does-not-exist' },
      'command-not-found',
      /'lantern-that-does-not-exist'/,
    ],
    ['a missing file', { command: './nowhere/lantern' }, 'command-not-found', /'.\/nowhere\/lantern'/],
    ['a path through a file', { command: file('plain', '', 0o644) + '/x' }, 'command-not-found', /plain/],
    ['a missing directory', { command: 'node', cwd: join(folder, 'gone') }, 'cwd-not-found', /gone'/],
    [
      'a missing directory and a missing command',
      { command: 'nope', cwd: join(folder, 'gone') },
      'cwd-not-found',
      /gone'/,
    ],
    ['a file as directory', { command: 'node', cwd: file('cwd', '', 0o644) }, 'cwd-not-found', /cwd'/],
    [
      'a file without the right to execute',
      { command: file('data', '{}', 0o644) },
      'command-not-executable',
      /data'.*EACCES/,
    ],
    [
      'a script whose interpreter is missing',
      { command: file('odd', '#!/no/such/sh\n', 0o755) },
      'command-not-executable',
      /interpreter/,
    ],
    [
      'an argument that cannot be passed',
      { command: process.execPath, args: ['secret\0'] },
      'spawn-failed',
      /node.*ERR_INVALID_ARG_VALUE/,
    ],
    [
      'arguments that are too long',
      { command: process.execPath, args: ['x'.repeat(3_000_000)] },
      'spawn-failed',
      /\((E2BIG|ENAMETOOLONG)\)/,
    ],
  ])('reports %s', async (_, launch, code, message) => {
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
    ['a command with its arguments', { command: 'node server.mjs --stdio' }, /'args'/],
    ['a path of a program with its arguments', { command: `${process.execPath} server.mjs` }, /'args'/],
    [
      'a missing path with a space in it',
      { command: '/opt/My Apps/lantern' },
      /[\\/]opt[\\/]My Apps[\\/]lantern/,
    ],
    ['arguments that are too long', { command: process.execPath, args: ['x'.repeat(3_000_000)] }, /long/],
    ['a missing command', { command: 'lantern-that-does-not-exist' }, /installed/],
    [
      'a missing relative path',
      { command: './nowhere/x', cwd: folder },
      /stdio-launch-\w+[\\/]nowhere[\\/]x/,
    ],
  ])('suggests what to do about %s', async (_, launch, hint) => {
    const { transport } = session(launch);
    await expect(transport.start()).rejects.toMatchObject({ failure: { hint: expect.stringMatching(hint) } });
    await transport.close();
  });

  it('masks secrets in messages', async () => {
    const launch = { command: 'lantern-s3cr3t' };
    const { transport } = session(launch, { mask: (text) => text.replaceAll('s3cr3t', '***') });
    await expect(transport.start()).rejects.toThrow("'lantern-***'");
  });

  it('works only once', async () => {
    const { transport } = await started(faulty('plain'));
    await expect(transport.start()).rejects.toMatchObject({ failure: { code: 'internal' } });
  });

  it('reports the end of a process that exits at once, with its output', async () => {
    const server = await started(faulty('exit-at-once'));
    await server.untilClosed();
    expect(server.transport.ended).toEqual({
      code: 'process-exited',
      message: expect.stringContaining('code 3'),
      exit: { code: 3, signal: null },
      hint: expect.stringContaining('LANTERN_REGION is not set'),
      stderrTail: ['lantern: cannot start, LANTERN_REGION is not set'],
    });
    await expect(server.transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toMatchObject({
      written: false,
      failure: { code: 'process-exited' },
    });
  });
});

describe('closing while starting', () => {
  it('spawns nothing if it comes at once', async () => {
    const { transport } = session(faulty('deaf-to-shutdown'));
    const starting = transport.start();
    await transport.close();
    await expect(starting).rejects.toMatchObject({ failure: { code: 'connection-lost' } });
    expect(transport.pid).toBeUndefined();
  });

  it.each(['close', 'kill'] as const)('leaves nothing if it comes after the spawn, by %s', async (way) => {
    const server = session(faulty('deaf-to-shutdown'));
    const starting = server.transport.start();
    await Promise.resolve();
    await Promise.resolve();
    const pid = server.transport.pid!;
    const closing = server.transport[way]();
    await expect(starting).rejects.toMatchObject({ failure: { code: 'connection-lost' } });
    await closing;
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(server.closes).toBe(1);
  });

  it('prevents a later start', async () => {
    const server = session(faulty('plain'));
    await server.transport.close();
    expect(server.closes).toBe(1);
    await expect(server.transport.start()).rejects.toMatchObject({ failure: { code: 'connection-lost' } });
    await expect(server.transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toMatchObject({
      written: false,
    });
  });
});
