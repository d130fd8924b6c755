import { describe, expect, it } from 'vitest';
import { MESSAGE_TOO_LARGE } from '../../../../src/transports/message-limits.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import {
  endSessionsAfterEach,
  faulty,
  script,
  started,
  type RecordedSession,
} from '../../../support/recorded-session.js';

useLeakCheck();
endSessionsAfterEach();

const INITIALIZE = { protocolVersion: '2025-11-25' };

const call = (server: RecordedSession, id: number, name: string, args = {}): Promise<unknown> =>
  server.ask(id, 'tools/call', { name, arguments: args });

describe('reading what a server writes', () => {
  it.each(['plain', 'bom-first-line', 'crlf-and-blank-lines'])(
    'needs no notice in the mode %s',
    async (mode) => {
      const server = await started(faulty(mode));
      await server.ask(1, 'initialize', INITIALIZE);
      expect(await call(server, 2, 'echo', { text: 'hello' })).toMatchObject({
        result: { content: [{ text: 'hello' }] },
      });
      await server.transport.close();
      expect(server.notices).toEqual([]);
    },
  );

  it('decodes text exactly even if every byte arrives alone and characters are split', async () => {
    const server = await started(faulty('one-byte-writes'));
    expect(await call(server, 1, 'echo', { text: 'ü' })).toMatchObject({
      result: { content: [{ text: 'ü – 灯笼 🏮 é' }] },
    });
  });

  it.each([
    ['banner-on-stdout', /== Lantern Control 4.2 ==/],
    ['ansi-coloured-noise', /✔ Lantern is up/],
  ])('continues after the noise of %s and reports it in one clean notice', async (mode, sample) => {
    const server = await started(faulty(mode));
    await server.ask(1, 'initialize', INITIALIZE);
    await server.transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect(await call(server, 2, 'echo', { text: 'still here' })).toMatchObject({
      result: { content: [{ text: 'still here' }] },
    });
    await server.transport.close();
    expect(server.notices).toEqual([{ kind: 'stdout-noise', message: expect.stringMatching(sample) }]);
    expect(server.notices[0]?.message).toMatch(/^\d /);
    expect(server.notices[0]?.message).not.toMatch(/\p{Cc}/u);
    expect(server.errors).toEqual([]);
  });

  it('masks the sample of the noise', async () => {
    const server = await started(script(`console.log('token s3cr3t'); send({ id: 1, result: {} }); stay()`), {
      mask: (text) => text.replaceAll('s3cr3t', '***'),
    });
    await server.until('the answer', () => server.answerTo(1) !== undefined);
    await server.transport.kill();
    expect(server.notices).toEqual([{ kind: 'stdout-noise', message: expect.stringContaining('token ***') }]);
  });

  it('delivers a result of 50 MB', async () => {
    const server = await started(
      script(`const text = 'L'.repeat(50 * 1024 * 1024);
        each(({ id }) => send({ id, result: { content: [{ type: 'text', text }] } }))`),
      { limits: { stdioMessageBytes: 64 * 1024 * 1024 } },
    );
    const answer = await server.ask(1);
    expect(answer).toMatchObject({ result: { content: [{ type: 'text' }] } });
    expect(JSON.stringify(answer).length).toBeGreaterThan(50 * 1024 * 1024);
    expect(server.activity).toBeGreaterThan(10);
  });

  it.each(['{ jsonrpc: "2.0", id, result }', '{ result, jsonrpc: "2.0", id }'])(
    'fails only the call whose answer is beyond the limit, for %s',
    async (shape) => {
      const server = await started(
        script(`each(({ id, method }) => {
          const result = { text: method === 'big' ? 'x'.repeat(3_000_000) : 'small' };
          process.stdout.write(JSON.stringify(${shape}) + '\\n');
        })`),
        { limits: { stdioMessageBytes: 1_000_000 } },
      );
      const [big, small] = await Promise.all([server.ask(1, 'big'), server.ask(2, 'small')]);
      expect(big).toMatchObject({
        id: 1,
        error: {
          code: MESSAGE_TOO_LARGE,
          message: expect.stringMatching(/1,000,000 bytes.*limits\.stdioMessageBytes/),
        },
      });
      expect(small).toMatchObject({ result: { text: 'small' } });
      expect(server.notices).toEqual([
        { kind: 'message-too-large', message: expect.stringContaining('limits.stdioMessageBytes') },
      ]);
    },
  );

  it('only reports a message beyond the limit that answers no request', async () => {
    const server = await started(
      script(`send({ id: 1, method: 'sampling/createMessage', params: { text: 'x'.repeat(10_000) } });
        send({ id: 7, result: {} }); stay()`),
      { limits: { stdioMessageBytes: 1_000 } },
    );
    await server.until('the answer', () => server.answerTo(7) !== undefined);
    expect(server.messages).toHaveLength(1);
    expect(server.notices.map(({ kind }) => kind)).toEqual(['message-too-large']);
  });

  it('reports a line that goes on beyond the limit, and fails the call that it answers', async () => {
    const server = await started(
      script(`each(({ id }) => {
        process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":"' + 'x'.repeat(2_000));
      })`),
      { limits: { stdioMessageBytes: 1_000 } },
    );
    expect(await server.ask(1)).toMatchObject({ id: 1, error: { code: MESSAGE_TOO_LARGE } });
    expect(server.notices.map(({ kind }) => kind)).toEqual(['message-too-large']);
    expect(server.transport.ended).toBeUndefined();
  });

  it.each([
    ['depth', "'['.repeat(2_000) + ']'.repeat(2_000)"],
    ['structure', "'[' + '{},'.repeat(200_000) + '0]'"],
  ])('fails only the call whose answer is beyond the limit of %s', async (_, value) => {
    const server = await started(
      script(`each(({ id, method }) => {
        const value = method === 'big' ? ${value} : '[]';
        process.stdout.write('{"jsonrpc":"2.0","method":"notifications/x","params":{"a":' + value + '}}\\n');
        process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":{"a":' + value + '}}\\n');
      })`),
    );
    const [big, small] = await Promise.all([server.ask(1, 'big'), server.ask(2, 'small')]);
    expect(big).toMatchObject({ id: 1, error: { code: MESSAGE_TOO_LARGE } });
    expect(small).toMatchObject({ id: 2, result: { a: [] } });
    expect(server.notices.map(({ kind }) => kind)).toEqual(['message-too-large', 'message-too-large']);
  });

  it('ends the session if a line has no end', async () => {
    const server = await started(
      script(`const more = () => process.stdout.write('x'.repeat(1_000), more); more()`),
      { limits: { stdioMessageBytes: 10_000 } },
    );
    await server.until('the end', () => server.transport.ended !== undefined);
    expect(server.transport.ended).toMatchObject({
      code: 'message-too-large',
      message: expect.stringContaining('more than 10,000 bytes'),
    });
    expect(server.notices.map(({ kind }) => kind)).toEqual(['message-too-large']);
  });

  it('works if callbacks throw, and reports that to onerror', async () => {
    const server = await started(
      script(
        `send({ id: 1, result: {} }); process.stderr.write('log\\n'); send({ id: 2, result: {} }); stay()`,
      ),
    );
    const thrown = new Error('host error');
    const { transport } = server;
    const record = transport.onmessage!;
    transport.onmessage = (message) => {
      record(message);
      throw thrown;
    };
    transport.onstderr = transport.onactivity = () => {
      throw thrown;
    };
    await server.until(
      'both answers',
      () => server.answerTo(1) !== undefined && server.answerTo(2) !== undefined,
    );
    await server.until('the log line', () => transport.stderrTail().length === 1);
    expect(new Set(server.errors)).toEqual(new Set([thrown]));

    transport.onerror = transport.onclose = () => {
      throw thrown;
    };
    await expect(transport.close()).resolves.toBeUndefined();
  });
});

describe('the stderr of a server', () => {
  it('is drained even without a listener, and the newest lines are kept', async () => {
    const server = await started(faulty('stderr-flood'));
    server.transport.onstderr = undefined;
    for (let id = 1; id <= 5; id += 1) await call(server, id, 'echo', { text: 'x' });
    const tail = server.transport.stderrTail();
    expect(tail.length).toBeGreaterThan(10);
    expect(tail.length).toBeLessThanOrEqual(200);
    expect(tail.join('').length).toBeLessThanOrEqual(64 * 1024);
    expect(tail.at(-1)).toMatch(/^lamp driver: retrying bus 7/);
  });

  it('is delivered as clean lines, with long ones cut and secrets masked', async () => {
    const server = await started(
      script(
        `process.stderr.write('\\x1b[31mred\\x1b[0m\\r\\ntoken s3cr3t\\n' + 'x'.repeat(1e6) + '\\nlast words'); `,
      ),
      { mask: (text) => text.replaceAll('s3cr3t', '***') },
    );
    await server.untilClosed();
    expect(server.stderr).toEqual(['red', 'token ***', `${'x'.repeat(1_024)}…`, 'last words']);
    expect(server.transport.stderrTail()).toEqual(server.stderr);
    expect(server.transport.ended?.hint).toContain('last words');
  });

  it('is not a sign of life of the protocol', async () => {
    const server = await started(script(`process.stderr.write('log\\n'); stay()`));
    await server.until('the log line', ({ stderr }) => stderr.length === 1);
    expect(server.activity).toBe(0);
  });
});
