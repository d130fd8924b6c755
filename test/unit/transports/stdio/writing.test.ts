import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../../support/leak-check.js';
import { endSessionsAfterEach, script, started } from '../../../support/recorded-session.js';

useLeakCheck();
endSessionsAfterEach();

const message = (text: string) => ({ jsonrpc: '2.0', method: 'note', params: { text } }) as const;

describe('writing to a server', () => {
  it('keeps the order of many messages sent at once, large and small', async () => {
    const server = await started(
      script(`const seen = [];
        each(({ id, params }) => id === undefined ? seen.push(params.text.length) : send({ id, result: { seen } }))`),
    );
    const lengths = Array.from({ length: 500 }, (_, index) => (index % 50 === 0 ? 200_000 : index));
    await Promise.all(lengths.map((length) => server.transport.send(message('x'.repeat(length)))));
    expect(await server.ask(1)).toMatchObject({ result: { seen: lengths } });
  });

  it('settles every send if a process that never reads dies, and knows which messages cannot have reached it', async () => {
    const server = await started(script(`process.stdin.pause(); send({ method: 'up' }); stay()`));
    await server.until('the server is up', ({ messages }) => messages.length > 0);
    const large = server.transport.send(message('x'.repeat(4_000_000)));
    const small = Array.from({ length: 20 }, () => server.transport.send(message('later')));
    const outcomes = Promise.allSettled([large, ...small]);
    await turn();
    process.kill(server.transport.pid!, 'SIGKILL');
    const [first, ...rest] = await outcomes;
    expect(first).toMatchObject({
      status: 'rejected',
      reason: { written: true, failure: { exit: { signal: 'SIGKILL' } } },
    });
    for (const outcome of rest)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { written: false } });
    await server.untilClosed();
    expect(server.closes).toBe(1);
  });

  it('fails a send into a broken pipe with the cause, not with EPIPE', async () => {
    const server = await started(script(`process.stdin.once('data', () => process.exit(11))`));
    const outcomes = [];
    for (let index = 0; index < 50 && server.closes === 0; index += 1) {
      outcomes.push(
        await server.transport.send(message('x'.repeat(50_000))).catch((error: unknown) => error),
      );
    }
    expect(outcomes.at(-1)).toMatchObject({
      failure: { code: 'process-exited', exit: { code: 11, signal: null } },
    });
  });

  it('ends the session if a server closes its stdin and keeps running', async () => {
    const server = await started(script(`require('node:fs').closeSync(0); send({ method: 'up' }); stay()`));
    await server.until('the server is up', ({ messages }) => messages.length > 0);
    await expect(server.transport.send(message('x'))).rejects.toMatchObject({
      failure: { code: 'connection-lost', message: expect.stringContaining('stdin') },
    });
    await server.untilClosed();
  });

  it('writes everything that was sent before the close, then ends the input', async () => {
    const server = await started(
      script(`let bytes = 0; process.stdin.on('data', (chunk) => (bytes += chunk.length))
        .on('end', () => { process.stderr.write(bytes + ' bytes'); process.exit(); })`),
      { stop: { stdinEndMs: 60_000, termMs: 60_000 } },
    );
    const sends = Array.from({ length: 10 }, () => server.transport.send(message('x'.repeat(100_000))));
    await Promise.all([server.transport.close(), ...sends]);
    expect(Number.parseInt(server.stderr[0]!)).toBeGreaterThan(1_000_000);
  });

  it('refuses a message that cannot be written as JSON, and continues', async () => {
    const server = await started(script(`each(({ id }) => send({ id, result: {} }))`));
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    await expect(
      server.transport.send({ jsonrpc: '2.0', method: 'x', params: circular }),
    ).rejects.toMatchObject({
      written: false,
      failure: { code: 'protocol-error' },
    });
    expect(await server.ask(1)).toMatchObject({ id: 1 });
  });
});
