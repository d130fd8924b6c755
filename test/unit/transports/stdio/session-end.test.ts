import { describe, expect, it } from 'vitest';
import { livingProcesses } from '../../../../src/transports/stdio/process-table.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import {
  endSessionsAfterEach,
  faulty,
  reportedPid,
  script,
  started,
  underShell,
} from '../../../support/recorded-session.js';

useLeakCheck();
endSessionsAfterEach();

/** Starts a helper that inherits every pipe, reports its id, and outlives its parent. */
const HELPER = `const helper = require('node:child_process').spawn('sleep', ['60'], { stdio: 'inherit' });
  helper.unref(); send({ method: 'helper', params: { pid: helper.pid } });`;

describe('a session that ends by itself', () => {
  it.each([
    ['an exit', `process.exit(3)`, { code: 3, signal: null }, 'code 3'],
    ['an orderly exit', `0`, { code: 0, signal: null }, 'code 0'],
    [
      'a signal',
      `process.kill(process.pid, 'SIGKILL'); stay()`,
      { code: null, signal: 'SIGKILL' },
      'SIGKILL',
    ],
  ])('reports %s once, before onclose', async (_, source, exit, message) => {
    const server = await started(script(source));
    let endedAtClose: unknown;
    const record = server.transport.onclose!;
    server.transport.onclose = () => {
      endedAtClose = server.transport.ended;
      record();
    };
    await server.untilClosed();
    expect(endedAtClose).toMatchObject({
      code: 'process-exited',
      message: expect.stringContaining(message),
      exit,
    });
    await server.transport.close();
    expect(server.closes).toBe(1);
    expect(server.transport.ended).toBe(endedAtClose);
  });

  it('does not give the last line on stderr as the reason of a SIGKILL', async () => {
    const server = await started(
      script(`process.stderr.write('listening\\n', () => process.kill(process.pid, 'SIGKILL')); stay()`),
    );
    await server.untilClosed();
    const { hint, stderrTail } = server.transport.ended!;
    expect(stderrTail).toEqual([expect.stringContaining('listening')]);
    expect(hint).toBeTruthy();
    expect(hint).not.toContain('listening');
  });

  it.each([
    [
      'shows the output of a server that sent no message',
      `console.log('Usage: lantern [--stdio]\\n  --help')`,
    ],
    ['prefers the output on stderr', `console.log('Usage'); console.error('Usage: lantern [--stdio]')`],
  ])('%s', async (_, source) => {
    const server = await started(script(source));
    await server.untilClosed();
    expect(server.transport.ended?.hint).toContain('Usage: lantern [--stdio]');
  });

  it('does not give noise as the reason if the server has sent messages', async () => {
    const server = await started(script(`console.log('noise'); send({ id: 1, result: {} })`));
    await server.untilClosed();
    expect(server.transport.ended).not.toHaveProperty('hint');
  });

  it('delivers the final answer of a process that exits right after it', async () => {
    const server = await started(
      script(
        `send({ id: 1, result: { text: 'x'.repeat(60_000) } }); send({ id: 2, result: {} }); process.exit(1)`,
      ),
    );
    await server.untilClosed();
    expect(server.answerTo(1)).toBeDefined();
    expect(server.answerTo(2)).toBeDefined();
  });

  it('delivers the final answer even if a helper keeps the pipe open and writes', async () => {
    const server = await started(
      script(`const noise = ['-c', 'while echo noise; do sleep 0.01; done'];
        require('node:child_process').spawn('sh', noise, { stdio: ['ignore', 'inherit', 'ignore'] }).unref();
        each(({ id }) => { send({ id, result: {} }); process.exit(5); })`),
    );
    await server.ask(1);
    await server.untilClosed();
    expect(server.transport.ended).toMatchObject({ exit: { code: 5 } });
  });

  it('is noticed even if a helper keeps the pipe open, and close ends the helper', async () => {
    const server = await started(script(`${HELPER} each(() => process.exit(70))`));
    await server.transport.send({ jsonrpc: '2.0', method: 'die' });
    await server.untilClosed();
    expect(server.transport.ended).toMatchObject({ code: 'process-exited', exit: { code: 70 } });
    const pid = reportedPid(server);
    expect(process.kill(pid, 0)).toBe(true);
    await server.transport.close();
    expect(isRunning(pid)).toBe(false);
  });

  it('is noticed if stdout is closed while the process is alive', async () => {
    const server = await started(script(`require('node:fs').closeSync(1); stay()`));
    await server.untilClosed();
    expect(server.transport.ended).toEqual({
      code: 'stdout-closed',
      message: expect.any(String),
    });
  });

  it('is noticed if a wrapper ends after its server', async () => {
    const server = await started(underShell(`process.exit(3)`));
    await server.untilClosed();
    expect(server.transport.ended).toMatchObject({ code: 'process-exited', exit: { code: 0 } });
  });

  it('is distinguished from a requested end', async () => {
    const server = await started(faulty('plain'));
    await server.transport.close();
    expect(server.closes).toBe(1);
    expect(server.transport.ended).toBeUndefined();
    await expect(server.transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toMatchObject({
      written: false,
      failure: { code: 'connection-lost' },
    });
  });

  it('can be closed in onclose', async () => {
    const server = await started(script(`process.exit(3)`));
    const closed = new Promise<void>((resolve) => {
      server.transport.onclose = () => {
        server.closes += 1;
        void server.transport.close().then(resolve);
      };
    });
    await closed;
    expect(server.closes).toBe(1);
    expect(server.transport.ended).toMatchObject({ exit: { code: 3 } });
  });
});

function isRunning(pid: number): boolean {
  return livingProcesses()?.some((process) => process.pid === pid) ?? false;
}
