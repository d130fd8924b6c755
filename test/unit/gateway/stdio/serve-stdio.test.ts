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

/** A client whose pipes are in memory. */
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
    const logger = { debug: () => {}, warn, error: warn };
    this.service = await serveStdio(this.gateway, { input, output, logger, ...options });
    return this;
  }

  say(...messages: readonly (object | string)[]): void {
    const lines = messages.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
    this.input.write(lines.map((line) => `${line}\n`).join(''));
  }

  get lines(): readonly Line[] {
    return linesOf(this.written);
  }

  async sees(count: number): Promise<readonly Line[]> {
    while (this.lines.length < count) await new Promise<void>((resolve) => (this.#waiting = resolve));
    return this.lines;
  }
}

/** Takes the next piece when the test says so. */
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
const told = { jsonrpc: '2.0', method: 'notifications/told' };
const echo = (id: unknown, text = 'x'): object => ({ jsonrpc: '2.0', id, method: 'echo', params: { text } });

describe('a client on stdin and stdout', () => {
  it('is answered line by line, whatever the lines are cut into.', async () => {
    const client = await serve();
    const bytes = Buffer.from(`${JSON.stringify(echo(1, 'ä€😀'))}\r\n\n  \n${JSON.stringify(echo('two'))}\n`);
    for (const byte of bytes) client.input.write(Buffer.from([byte]));
    expect(await client.sees(2)).toEqual([
      { jsonrpc: '2.0', id: 1, result: { echo: { text: 'ä€😀' } } },
      { jsonrpc: '2.0', id: 'two', result: { echo: { text: 'x' } } },
    ]);
  });

  it.each(['{"toString":null}', '[[{"toString":1}]]'])(
    'may ask for the protocol version %s, which is no text, and its next line is answered.',
    async (version) => {
      const client = await serve();
      const params = `{"protocolVersion":${version}}`;
      client.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":${params}}`, echo(2));
      const [first, second] = await client.sees(2);
      expect(first).toMatchObject({ id: 1, result: JSON.parse(params) as object });
      expect(second).toMatchObject({ id: 2 });
    },
  );

  it('learns of a line that is no JSON, and the next one is answered.', async () => {
    const client = await serve();
    client.say('{"jsonrpc": "2.0", "id": 1,', echo(2));
    const [error, answer] = await client.sees(2);
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
    ['a method that is no text', '{"jsonrpc":"2.0","id":4,"method":[]}', 4, -32600],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"echo"}', null, -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"echo"}', null, -32600],
    ['params that are a list', '{"jsonrpc":"2.0","id":4,"method":"echo","params":[1]}', 4, -32602],
    ['params that are a text', '{"jsonrpc":"2.0","id":4,"method":"echo","params":"a"}', 4, -32602],
    ['neither a method nor an answer', '{"jsonrpc":"2.0","id":4}', null, -32600],
  ])('learns what is wrong with %s.', async (_, line, id, code) => {
    const client = await serve();
    client.say(line);
    const [answer] = await client.sees(1);
    expect(answer).toMatchObject({
      jsonrpc: '2.0',
      id,
      error: { code, data: { reason: expect.any(String) } },
    });
    expect(client.gateway.last.heard).toEqual([]);
  });

  it.each(['2025-11-25', '2025-06-18', '2024-11-05'])(
    'may send no batch where %s was agreed on, and nothing of it is done.',
    async (protocolVersion) => {
      const client = await serve();
      client.say(initialize(protocolVersion), [echo(1), echo(2)]);
      expect((await client.sees(2))[1]).toMatchObject({
        id: null,
        error: { code: -32600, data: { reason: expect.stringContaining('2025-03-26') } },
      });
      expect(client.gateway.last.heard.length).toBe(1);
    },
  );

  it('may send no batch before a version was agreed on.', async () => {
    const client = await serve();
    client.say([initialize(BATCHING)]);
    expect(await client.sees(1)).toMatchObject([{ id: null, error: { code: -32600 } }]);
  });

  it('gets the answers of a batch on one line once all are there, with an error for each that is no message.', async () => {
    const client = await serve();
    client.say(initialize(BATCHING), [{ jsonrpc: '2.0', id: 1, method: 'hold' }, 5, echo(2), told]);
    client.say(echo(3));
    expect((await client.sees(2)).map(({ id }) => id)).toEqual(['init', 3]);
    client.gateway.last.release(1);
    expect((await client.sees(3))[2]).toMatchObject([
      { id: null, error: { code: -32600 } },
      { id: 2, result: {} },
      { id: 1, result: { released: true } },
    ]);
  });

  it('gets the other answers of a batch when it cancels one of it, and nothing for a batch without requests.', async () => {
    const client = await serve();
    client.say(initialize(BATCHING), [echo(1), { jsonrpc: '2.0', id: 2, method: 'hold' }], [told, told]);
    client.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } });
    client.say([{ jsonrpc: '2.0', id: 3, method: 'throw' }]);
    const [, cancelled, failed, ...more] = await client.sees(3);
    expect([cancelled, failed, more]).toMatchObject([[{ id: 1 }], [{ id: 3, error: { code: -32603 } }], []]);
  });

  it('gets what is there of a batch when the session ends.', async () => {
    const client = await serve();
    client.say(initialize(BATCHING), [echo(1), { jsonrpc: '2.0', id: 2, method: 'hold' }]);
    await client.sees(1);
    await client.service.close({ gracePeriodMs: 0 });
    expect(client.lines[1]).toMatchObject([{ id: 1 }]);
  });

  it('learns of bytes that are no UTF-8, though they stand in a text; the sign for such bytes is a sign like others.', async () => {
    const client = await serve();
    const [before = '', after = ''] = JSON.stringify(echo(1, 'HERE')).split('HERE');
    for (const wrong of [[0xff], [0xc3], [0xed, 0xa0, 0x80]]) {
      client.input.write(Buffer.concat([Buffer.from(before), Buffer.from(wrong), Buffer.from(`${after}\n`)]));
    }
    client.say(echo(2, '\uFFFD'));
    const lines = await client.sees(4);
    const error = { code: -32700, data: { reason: 'The message is not UTF-8.' } };
    expect(lines.slice(0, 3)).toMatchObject([
      { id: null, error },
      { id: null, error },
      { id: null, error },
    ]);
    expect(lines[3]).toMatchObject({ id: 2, result: { echo: { text: '\uFFFD' } } });
  });

  it('learns that a message is too long, under its id where that stands early.', async () => {
    const client = await serve({ maxMessageBytes: 300 });
    client.say(echo(9, 'y'.repeat(400)), `[${' '.repeat(400)}]`, echo(10));
    const lines = await client.sees(3);
    expect(lines[0]).toMatchObject({
      id: 9,
      error: { code: -32600, data: { reason: expect.stringMatching(/at most 300 bytes/) } },
    });
    expect(lines[1]).toMatchObject({ id: null, error: { code: -32600 } });
    expect(lines[2]).toMatchObject({ id: 10, result: {} });
  });

  it('has no second request under an id that is in use, and may use it again afterwards.', async () => {
    const client = await serve();
    client.say({ jsonrpc: '2.0', id: 1, method: 'hold' }, echo(1));
    expect((await client.sees(1))[0]).toMatchObject({ id: null, error: { code: -32600, data: { id: 1 } } });
    client.gateway.last.release(1);
    await client.sees(2);
    client.say(echo(1));
    expect((await client.sees(3)).map(({ id }) => id)).toEqual([null, 1, 1]);
  });

  it('is told nothing more of a request that it cancelled.', async () => {
    const client = await serve();
    client.say({ jsonrpc: '2.0', id: 1, method: 'hold' });
    client.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    client.gateway.last.release(1);
    client.say(echo(2));
    expect((await client.sees(1)).map(({ id }) => id)).toEqual([2]);
    expect(client.gateway.last.heard.at(1)).toMatchObject({ method: 'notifications/cancelled' });
  });

  it('is told that something is wrong, and not what, where the gateway itself fails.', async () => {
    const client = await serve();
    client.say({ jsonrpc: '2.0', id: 1, method: 'throw' });
    expect(await client.sees(1)).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } },
    ]);
  });

  it('answers what it is asked; an answer that is none ends the question with an error.', async () => {
    const client = await serve();
    client.say({ jsonrpc: '2.0', id: 1, method: 'ask' }, { jsonrpc: '2.0', id: 2, method: 'ask' });
    const questions = await client.sees(2);
    client.say({ jsonrpc: '2.0', id: 'question-1', result: { roots: [] } });
    client.say({ jsonrpc: '2.0', id: 'question-2' });
    client.say({ jsonrpc: '2.0', id: 'question-1', result: { roots: ['once more'] } });
    const lines = await client.sees(4);
    expect(questions.map(({ method }) => method)).toEqual(['roots/list', 'roots/list']);
    expect(lines[2]).toMatchObject({ id: 1, result: { answer: { result: { roots: [] } } } });
    expect(lines[3]).toMatchObject({ id: 2, result: { answer: { error: { code: -32600 } } } });
  });

  it('may have a thousand requests in flight, and no more.', async () => {
    const client = await serve();
    client.say(...Array.from({ length: 1_001 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'hold' })));
    expect((await client.sees(1))[0]).toMatchObject({ id: 1_000, error: { code: -32000 } });
    client.gateway.last.release(7);
    client.say(echo('after'));
    expect((await client.sees(3)).map(({ id }) => id)).toEqual([1_000, 7, 'after']);
  });

  it('is not read while it does not read, and goes on when it does.', async () => {
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
    await expect.poll(() => client.input.isPaused() && takeUp !== undefined, { timeout: 10_000 }).toBe(true);
    expect(client.gateway.last.heard.length).toBeLessThan(30);
    takeUp?.();
    await expect.poll(() => client.gateway.last.heard.length, { timeout: 10_000 }).toBe(100);
    await expect.poll(() => written.match(/"id":/g)?.length, { timeout: 10_000 }).toBe(100);
  });
});

describe('the end of a session on stdin and stdout', () => {
  it('comes with the end of the input, once everything is answered.', async () => {
    const client = await serve();
    client.say({ jsonrpc: '2.0', id: 1, method: 'hold' });
    client.input.end(JSON.stringify(echo(2)));
    await client.sees(1);
    client.gateway.last.release(1);
    await client.service.closed;
    expect(client.lines.map(({ id }) => id)).toEqual([2, 1]);
    expect(client.warnings).toEqual([]);
  });

  it('gives up what takes longer than the drain time.', async () => {
    const client = await serve({ gracePeriodMs: 50 });
    client.say({ jsonrpc: '2.0', id: 1, method: 'hold' });
    client.input.end();
    await client.service.closed;
    expect(client.lines).toEqual([]);
    expect(client.warnings).toEqual(['Calls in flight were aborted.']);
  });

  it('lets what is in flight finish when it is asked for, answers questions meanwhile, and refuses what is new.', async () => {
    const client = await serve();
    client.say({ jsonrpc: '2.0', id: 1, method: 'ask' });
    await client.sees(1);
    const closing = client.service.close();
    client.say(echo(2), { jsonrpc: '2.0', id: 'question-1', result: {} });
    await closing;
    expect(client.lines.slice(1)).toMatchObject([
      { id: 2, error: { code: -32000, message: 'The gateway is shutting down.' } },
      { id: 1, result: {} },
    ]);
  });

  it('is hurried by a second wish to end it.', async () => {
    const client = await serve({ gracePeriodMs: 60_000 });
    client.say({ jsonrpc: '2.0', id: 1, method: 'hold' });
    await expect.poll(() => client.gateway.last.held, { timeout: 10_000 }).toEqual([1]);
    void client.service.close();
    await client.service.close();
    await client.service.closed;
  });

  it('comes at once where nobody reads any more.', async () => {
    const client = await serve({ gracePeriodMs: 60_000 });
    client.say({ jsonrpc: '2.0', id: 1, method: 'hold' });
    await expect.poll(() => client.gateway.last.held, { timeout: 10_000 }).toEqual([1]);
    client.output.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await client.service.closed;
  });

  it('waits for a client that reads its last answers slowly, until it has them all.', async () => {
    const clock = createControlledClock();
    const reader = new SlowReader();
    const client = await serve({ clock }, reader);
    for (const id of [1, 2, 3]) client.say(echo(id, 'z'.repeat(200_000)));
    client.input.end();
    await expect.poll(() => client.gateway.last.heard.length, { timeout: 10_000 }).toBe(3);
    for (let piece = 1; piece <= 12; piece += 1) {
      await clock.advance(4_000);
      await reader.take();
    }
    await client.service.closed;
    expect(reader.lines.map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  it('comes for a client that has ended its input, also where it stopped reading before.', async () => {
    const clock = createControlledClock();
    const client = await serve({ clock }, new Writable({ write: () => {} }));
    client.say(echo(1, 'z'.repeat(2_000_000)));
    await expect.poll(() => client.gateway.last.heard.length, { timeout: 10_000 }).toBe(1);
    client.say(echo(2));
    client.input.end();
    await clock.advance(6_000);
    await client.service.closed;
  });

  it('comes after what a client said before, though it read nothing meanwhile.', async () => {
    const reader = new SlowReader();
    const client = await serve({}, reader);
    client.say(echo(1, 'z'.repeat(2_000_000)));
    await expect.poll(() => client.gateway.last.heard.length, { timeout: 10_000 }).toBe(1);
    client.say(echo(2), echo(3, 'z'.repeat(2_000_000)));
    client.input.end();
    for (let piece = 1; piece <= 80; piece += 1) await reader.take();
    await client.service.closed;
    expect(reader.lines.map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  it('does not wait long for a client that reads slowly once it is to end at once.', async () => {
    const clock = createControlledClock();
    const reader = new SlowReader();
    const client = await serve({ clock }, reader);
    client.say(echo(1, 'z'.repeat(2_000_000)));
    client.input.end();
    await expect.poll(() => client.gateway.last.heard.length, { timeout: 10_000 }).toBe(1);
    await clock.advance(1_000);
    void client.service.close({ gracePeriodMs: 0 });
    await reader.take();
    await clock.advance(1_000);
    await client.service.closed;
  });

  it('is not held up for long by a client that does not read its last answers.', async () => {
    const clock = createControlledClock();
    const client = await serve({ clock }, new Writable({ write: () => {} }));
    client.say(echo(1));
    await expect.poll(() => client.gateway.last.heard.length, { timeout: 10_000 }).toBe(1);
    const closed = client.service.close({ gracePeriodMs: 0 });
    await clock.advance(5_000);
    await closed;
  });
});
