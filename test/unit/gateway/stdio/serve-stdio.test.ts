import { PassThrough, Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import {
  serveStdio,
  type ServeStdioOptions,
  type StdioService,
} from '../../../../src/gateway/stdio/serve-stdio.js';
import { createControlledClock } from '../../../support/controlled-clock.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { StandInGateway } from '../serve-stand-in.js';

useLeakCheck();

type Line = Readonly<Record<string, unknown>>;

function linesOf(text: string): readonly Line[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Line);
}

/** A client with in-memory pipes. */
class Client {
  readonly gateway = new StandInGateway();
  readonly input = new PassThrough();
  readonly output: Writable;
  readonly warnings: string[] = [];
  written = '';
  service!: StdioService;
  #waiting: (() => void) | undefined;

  constructor(output?: Writable) {
    this.output =
      output ??
      new Writable({
        write: (chunk, _, done) => {
          this.written += String(chunk);
          this.#waiting?.();
          done();
        },
      });
  }

  async served(options: ServeStdioOptions = {}): Promise<this> {
    const { input, output } = this;
    const warn = (message: string): void => void this.warnings.push(message);
    const logger = { debug: () => {}, info: () => {}, warn, error: warn };
    this.service = await serveStdio(this.gateway, { input, output, logger, ...options });
    return this;
  }

  send(...messages: readonly (object | string)[]): void {
    const lines = messages.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
    this.input.write(lines.map((line) => `${line}\n`).join(''));
  }

  get lines(): readonly Line[] {
    return linesOf(this.written);
  }

  async linesWhen(count: number): Promise<readonly Line[]> {
    while (this.lines.length < count) await new Promise<void>((resolve) => (this.#waiting = resolve));
    return this.lines;
  }
}

/** Accepts the next chunk when the test calls it. */
class SlowReader extends Writable {
  #written = '';
  #done: (() => void) | undefined;

  override _write(bytes: Buffer, _: string, done: () => void): void {
    this.#written += String(bytes);
    this.#done = done;
  }

  async take(): Promise<void> {
    const done = this.#done;
    this.#done = undefined;
    done?.();
    await turn();
  }

  get lines(): readonly Line[] {
    return linesOf(this.#written);
  }
}

const clients: Client[] = [];

async function serve(options: ServeStdioOptions = {}, output?: Writable): Promise<Client> {
  const client = await new Client(output).served(options);
  clients.push(client);
  return client;
}

afterEach(async () => {
  for (const client of clients.splice(0)) {
    await client.service.close({ gracePeriodMs: 0 });
    expect(client.input.eventNames()).toEqual(new PassThrough().eventNames());
    expect(client.output.listenerCount('error')).toBe(0);
  }
});

const BATCHING = '2025-03-26';
const initialize = (protocolVersion: string): object => ({
  jsonrpc: '2.0',
  id: 'init',
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});
const notification = { jsonrpc: '2.0', method: 'notifications/test' };
const echo = (id: unknown, text = 'x'): object => ({ jsonrpc: '2.0', id, method: 'echo', params: { text } });

describe('a client on stdin and stdout', () => {
  it('is answered line by line, however the lines are split.', async () => {
    const client = await serve();
    const bytes = Buffer.from(`${JSON.stringify(echo(1, 'ä€😀'))}\r\n\n  \n${JSON.stringify(echo('two'))}\n`);
    for (const byte of bytes) client.input.write(Buffer.from([byte]));
    expect(await client.linesWhen(2)).toEqual([
      { jsonrpc: '2.0', id: 1, result: { echo: { text: 'ä€😀' } } },
      { jsonrpc: '2.0', id: 'two', result: { echo: { text: 'x' } } },
    ]);
  });

  it.each(['{"toString":null}', '[[{"toString":1}]]'])(
    'may request the protocol version %s, which is not a string, and its next line is answered.',
    async (version) => {
      const client = await serve();
      const params = `{"protocolVersion":${version}}`;
      client.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":${params}}`, echo(2));
      const [first, second] = await client.linesWhen(2);
      expect(first).toMatchObject({ id: 1, result: JSON.parse(params) as object });
      expect(second).toMatchObject({ id: 2 });
    },
  );

  it('gets an error for a line that is not JSON, and the next line is answered.', async () => {
    const client = await serve();
    client.send('{"jsonrpc": "2.0", "id": 1,', echo(2));
    const [error, answer] = await client.linesWhen(2);
    expect(error).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: {
        code: -32700,
        message: 'Parse error',
        data: { reason: 'The message is not JSON.', bytes: 27 },
      },
    });
    expect(answer).toMatchObject({ id: 2 });
  });

  it.each([
    ['a number', '7', null, -32600],
    ['a text', '"hello"', null, -32600],
    ['null', 'null', null, -32600],
    ['an empty batch', '[]', null, -32600],
    ['an object with nothing', '{}', null, -32600],
    ['another version', '{"jsonrpc":"1.0","id":4,"method":"echo"}', 4, -32600],
    ['no version', '{"id":4,"method":"echo"}', 4, -32600],
    ['a method that is not a string', '{"jsonrpc":"2.0","id":4,"method":[]}', 4, -32600],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"echo"}', null, -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"echo"}', null, -32600],
    ['params that are a list', '{"jsonrpc":"2.0","id":4,"method":"echo","params":[1]}', 4, -32602],
    ['params that are a text', '{"jsonrpc":"2.0","id":4,"method":"echo","params":"a"}', 4, -32602],
    ['neither a method nor an answer', '{"jsonrpc":"2.0","id":4}', null, -32600],
  ])('gets an error for %s.', async (_, line, id, code) => {
    const client = await serve();
    client.send(line);
    const [answer] = await client.linesWhen(1);
    expect(answer).toMatchObject({
      jsonrpc: '2.0',
      id,
      error: { code, data: { reason: expect.any(String) } },
    });
    expect(client.gateway.last.received).toEqual([]);
  });

  it.each(['2025-11-25', '2025-06-18', '2024-11-05'])(
    'must not send a batch if %s was negotiated, and no part of the batch is executed.',
    async (protocolVersion) => {
      const client = await serve();
      client.send(initialize(protocolVersion), [echo(1), echo(2)]);
      expect((await client.linesWhen(2))[1]).toMatchObject({
        id: null,
        error: { code: -32600, data: { reason: expect.stringContaining('2025-03-26') } },
      });
      expect(client.gateway.last.received.length).toBe(1);
    },
  );

  it('must not send a batch before a version was negotiated.', async () => {
    const client = await serve();
    client.send([initialize(BATCHING)]);
    expect(await client.linesWhen(1)).toMatchObject([{ id: null, error: { code: -32600 } }]);
  });

  it('gets the answers of a batch on one line once all are complete, with an error for each invalid message.', async () => {
    const client = await serve();
    client.send(initialize(BATCHING), [{ jsonrpc: '2.0', id: 1, method: 'hold' }, 5, echo(2), notification]);
    client.send(echo(3));
    expect((await client.linesWhen(2)).map(({ id }) => id)).toEqual(['init', 3]);
    client.gateway.last.release(1);
    expect((await client.linesWhen(3))[2]).toMatchObject([
      { id: null, error: { code: -32600 } },
      { id: 2, result: {} },
      { id: 1, result: { released: true } },
    ]);
  });

  it('gets the other answers of a batch if it cancels one request, and nothing for a batch without requests.', async () => {
    const client = await serve();
    client.send(
      initialize(BATCHING),
      [echo(1), { jsonrpc: '2.0', id: 2, method: 'hold' }],
      [notification, notification],
    );
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } });
    client.send([{ jsonrpc: '2.0', id: 3, method: 'throw' }]);
    const [, cancelled, failed, ...more] = await client.linesWhen(3);
    expect([cancelled, failed, more]).toMatchObject([[{ id: 1 }], [{ id: 3, error: { code: -32603 } }], []]);
  });

  it('gets the finished answers of a batch when the session ends.', async () => {
    const client = await serve();
    client.send(initialize(BATCHING), [echo(1), { jsonrpc: '2.0', id: 2, method: 'hold' }]);
    await client.linesWhen(1);
    await client.service.close({ gracePeriodMs: 0 });
    expect(client.lines[1]).toMatchObject([{ id: 1 }]);
  });

  it('gets an error for invalid UTF-8, even within a string, but may send U+FFFD.', async () => {
    const client = await serve();
    const [before = '', after = ''] = JSON.stringify(echo(1, 'HERE')).split('HERE');
    for (const wrong of [[0xff], [0xc3], [0xed, 0xa0, 0x80]]) {
      client.input.write(Buffer.concat([Buffer.from(before), Buffer.from(wrong), Buffer.from(`${after}\n`)]));
    }
    client.send(echo(2, '\uFFFD'));
    const lines = await client.linesWhen(4);
    const error = { code: -32700, data: { reason: 'The message is not UTF-8.' } };
    expect(lines.slice(0, 3)).toMatchObject([
      { id: null, error },
      { id: null, error },
      { id: null, error },
    ]);
    expect(lines[3]).toMatchObject({ id: 2, result: { echo: { text: '\uFFFD' } } });
  });

  it('gets an error for a message that is too long, with its id if that comes early.', async () => {
    const client = await serve({ maxMessageBytes: 300 });
    client.send(echo(9, 'y'.repeat(400)), `[${' '.repeat(400)}]`, echo(10));
    const lines = await client.linesWhen(3);
    expect(lines[0]).toMatchObject({
      id: 9,
      error: { code: -32600, data: { reason: expect.stringMatching(/at most 300 bytes/) } },
    });
    expect(lines[1]).toMatchObject({ id: null, error: { code: -32600 } });
    expect(lines[2]).toMatchObject({ id: 10, result: {} });
  });

  it('gets an error for a message beyond a limit of JSON, with its id if that comes early.', async () => {
    const client = await serve();
    const deep = '['.repeat(2_000) + ']'.repeat(2_000);
    client.send(JSON.stringify(echo(9, 'y')).replace('"y"', deep), echo(10));
    const lines = await client.linesWhen(2);
    expect(lines[0]).toMatchObject({ id: 9, error: { code: -32600 } });
    expect(lines[1]).toMatchObject({ id: 10, result: {} });
  });

  it('must not reuse the id of a request in flight, and may reuse it afterwards.', async () => {
    const client = await serve();
    client.send({ jsonrpc: '2.0', id: 1, method: 'hold' }, echo(1));
    expect((await client.linesWhen(1))[0]).toMatchObject({
      id: null,
      error: { code: -32600, data: { id: 1 } },
    });
    client.gateway.last.release(1);
    await client.linesWhen(2);
    client.send(echo(1));
    expect((await client.linesWhen(3)).map(({ id }) => id)).toEqual([null, 1, 1]);
  });

  it('gets nothing more of a request that it cancelled.', async () => {
    const client = await serve();
    client.send({ jsonrpc: '2.0', id: 1, method: 'hold' });
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    client.gateway.last.release(1);
    client.send(echo(2));
    expect((await client.linesWhen(1)).map(({ id }) => id)).toEqual([2]);
    expect(client.gateway.last.received.at(1)).toMatchObject({ method: 'notifications/cancelled' });
  });

  it('gets an error without details if the gateway itself fails.', async () => {
    const client = await serve();
    client.send({ jsonrpc: '2.0', id: 1, method: 'throw' });
    expect(await client.linesWhen(1)).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } },
    ]);
  });

  it('answers questions; an invalid answer ends the question with an error.', async () => {
    const client = await serve();
    client.send({ jsonrpc: '2.0', id: 1, method: 'ask' }, { jsonrpc: '2.0', id: 2, method: 'ask' });
    const questions = await client.linesWhen(2);
    client.send({ jsonrpc: '2.0', id: 'question-1', result: { roots: [] } });
    client.send({ jsonrpc: '2.0', id: 'question-2' });
    client.send({ jsonrpc: '2.0', id: 'question-1', result: { roots: ['once more'] } });
    const lines = await client.linesWhen(4);
    expect(questions.map(({ method }) => method)).toEqual(['roots/list', 'roots/list']);
    expect(lines[2]).toMatchObject({ id: 1, result: { answer: { result: { roots: [] } } } });
    expect(lines[3]).toMatchObject({ id: 2, result: { answer: { error: { code: -32600 } } } });
  });

  it('may have a thousand requests in flight at most.', async () => {
    const client = await serve();
    client.send(...Array.from({ length: 1_001 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'hold' })));
    expect((await client.linesWhen(1))[0]).toMatchObject({ id: 1_000, error: { code: -32000 } });
    client.gateway.last.release(7);
    client.send(echo('after'));
    expect((await client.linesWhen(3)).map(({ id }) => id)).toEqual([1_000, 7, 'after']);
  });

  it('is not read while it does not read, and its requests continue when it does.', async () => {
    let takeUp: (() => void) | undefined;
    let written = '';
    const output = new Writable({
      highWaterMark: 1,
      write: (chunk, _, done) => {
        written += String(chunk);
        if (takeUp === undefined) takeUp = done;
        else done();
      },
    });
    const client = await serve({}, output);
    const text = 'z'.repeat(100_000);
    for (let id = 0; id < 100; id += 1) client.input.write(`${JSON.stringify(echo(id, text))}\n`);
    await expect.poll(() => client.input.isPaused() && takeUp !== undefined).toBe(true);
    expect(client.gateway.last.received.length).toBeLessThan(30);
    takeUp?.();
    await expect.poll(() => client.gateway.last.received.length).toBe(100);
    await expect.poll(() => written.match(/"id":/g)?.length).toBe(100);
  });
});

describe('a session on stdin and stdout', () => {
  it('ends with its input, once everything is answered.', async () => {
    const client = await serve();
    client.send({ jsonrpc: '2.0', id: 1, method: 'hold' });
    client.input.end(JSON.stringify(echo(2)));
    await client.linesWhen(1);
    client.gateway.last.release(1);
    await client.service.closed;
    expect(client.lines.map(({ id }) => id)).toEqual([2, 1]);
    expect(client.warnings).toEqual([]);
  });

  it('aborts requests after the grace period.', async () => {
    const client = await serve({ gracePeriodMs: 50 });
    client.send({ jsonrpc: '2.0', id: 1, method: 'hold' });
    client.input.end();
    await client.service.closed;
    expect(client.lines).toEqual([]);
    expect(client.warnings).toEqual(['Calls in flight were aborted.']);
  });

  it('lets requests in flight finish when it closes, still asks questions, and refuses new requests.', async () => {
    const client = await serve();
    client.send({ jsonrpc: '2.0', id: 1, method: 'ask' });
    await client.linesWhen(1);
    const closing = client.service.close();
    client.send(echo(2), { jsonrpc: '2.0', id: 'question-1', result: {} });
    await closing;
    expect(client.lines.slice(1)).toMatchObject([
      { id: 2, error: { code: -32000 } },
      { id: 1, result: {} },
    ]);
  });

  it('is ended at once by a second close.', async () => {
    const client = await serve({ gracePeriodMs: 60_000 });
    client.send({ jsonrpc: '2.0', id: 1, method: 'hold' });
    await expect.poll(() => client.gateway.last.held).toEqual([1]);
    void client.service.close();
    await client.service.close();
    await client.service.closed;
  });

  it('ends at once if nobody reads any more.', async () => {
    const client = await serve({ gracePeriodMs: 60_000 });
    client.send({ jsonrpc: '2.0', id: 1, method: 'hold' });
    await expect.poll(() => client.gateway.last.held).toEqual([1]);
    client.output.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await client.service.closed;
  });

  it('waits for a client that reads its last answers slowly, until it has all of them.', async () => {
    const clock = createControlledClock();
    const reader = new SlowReader();
    const client = await serve({ clock }, reader);
    for (const id of [1, 2, 3]) client.send(echo(id, 'z'.repeat(200_000)));
    client.input.end();
    await expect.poll(() => client.gateway.last.received.length).toBe(3);
    for (let piece = 1; piece <= 12; piece += 1) {
      await clock.advance(4_000);
      await reader.take();
    }
    await client.service.closed;
    expect(reader.lines.map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  it('ends after the input of its client has ended, even if the client stopped reading before.', async () => {
    const clock = createControlledClock();
    const client = await serve({ clock }, new Writable({ write: () => {} }));
    client.send(echo(1, 'z'.repeat(2_000_000)));
    await expect.poll(() => client.gateway.last.received.length).toBe(1);
    client.send(echo(2));
    client.input.end();
    await clock.advance(6_000);
    await client.service.closed;
  });

  it('ends after all earlier messages of its client, even if the client read nothing in the meantime.', async () => {
    const reader = new SlowReader();
    const client = await serve({}, reader);
    client.send(echo(1, 'z'.repeat(2_000_000)));
    await expect.poll(() => client.gateway.last.received.length).toBe(1);
    client.send(echo(2), echo(3, 'z'.repeat(2_000_000)));
    client.input.end();
    for (let piece = 1; piece <= 80; piece += 1) await reader.take();
    await client.service.closed;
    expect(reader.lines.map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  it('waits only briefly for a slow reader when it has to end at once.', async () => {
    const clock = createControlledClock();
    const reader = new SlowReader();
    const client = await serve({ clock }, reader);
    client.send(echo(1, 'z'.repeat(2_000_000)));
    client.input.end();
    await expect.poll(() => client.gateway.last.received.length).toBe(1);
    await clock.advance(1_000);
    void client.service.close({ gracePeriodMs: 0 });
    await reader.take();
    await clock.advance(1_000);
    await client.service.closed;
  });

  it('waits only briefly for a client that does not read its last answers.', async () => {
    const clock = createControlledClock();
    const client = await serve({ clock }, new Writable({ write: () => {} }));
    client.send(echo(1));
    await expect.poll(() => client.gateway.last.received.length).toBe(1);
    const closed = client.service.close({ gracePeriodMs: 0 });
    await clock.advance(5_000);
    await closed;
  });
});
