import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { HttpEventLog, toCursor, toEventId } from '../../../../src/gateway/http/http-event-log.js';
import { createControlledClock } from '../../../support/controlled-clock.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { call, initialize, ofSession } from '../../../support/gateway-http-client.js';
import { endServicesAfterEach, serving } from '../http-service.js';

useLeakCheck();
useCrashWatch();
endServicesAfterEach();

const MIB = 1_024 * 1_024;
const notification = (n: number): object => ({ method: 'notifications/test', params: { n } });
const asMessage = (n: number): object => ({ jsonrpc: '2.0', ...notification(n) });

/** For tests that move tens of megabytes through a socket, milliseconds. */
const SLOW_MS = 120_000;

describe('a stream of a session', () => {
  it('carries messages that belong to no request, including those sent before it was opened.', async () => {
    const { begin, listen, gateway } = await serving();
    const id = await begin();
    gateway.last.send(notification(1));
    const listening = await listen(id);
    gateway.last.send(notification(2));
    expect(await listening.event()).toEqual({ id: '0.0', message: undefined });
    expect((await listening.event())?.message).toEqual(asMessage(1));
    expect((await listening.event())?.message).toEqual(asMessage(2));
  });

  it('repeats nothing: a later one continues, and the earlier one ends.', async () => {
    const { begin, listen, gateway } = await serving();
    const id = await begin();
    const first = await listen(id);
    gateway.last.send(notification(1));
    await first.event();
    expect((await first.event())?.message).toEqual(asMessage(1));
    const second = await listen(id);
    gateway.last.send(notification(2));
    expect(await first.messages()).toEqual([]);
    await second.event();
    expect((await second.event())?.message).toEqual(asMessage(2));
  });

  it('starts without an empty event for clients of a version that cannot handle one.', async () => {
    const version = '2025-06-18';
    const { begin, post } = await serving();
    const id = await begin({ body: initialize({ protocolVersion: version }) });
    const reply = await post(id, call(1), { 'mcp-protocol-version': version });
    expect((await reply.event())?.message).toMatchObject({ id: 1 });
  });

  it('starts with an empty event if the negotiated version allows it, whatever a header says.', async () => {
    const { begin, post } = await serving();
    const reply = await post(await begin(), call(1), { 'mcp-protocol-version': '2025-06-18' });
    expect((await reply.event())?.message).toBeUndefined();
    expect((await reply.event())?.message).toMatchObject({ id: 1 });
  });

  it('can be resumed where it broke: the answer arrives once, even if no stream was open for it.', async () => {
    const { begin, post, listen, gateway } = await serving();
    const id = await begin();
    const broken = await post(id, call(1, 'hold'));
    const cursor = (await broken.event())?.id ?? '';
    broken.leave();
    gateway.last.send(notification(1), 1);
    const resumed = await listen(id, { 'last-event-id': cursor });
    const [primer, first] = [await resumed.event(), await resumed.event()];
    expect([primer?.id, first?.message]).toEqual([cursor, asMessage(1)]);
    resumed.leave();
    gateway.last.release(1);
    const last = await listen(id, { 'last-event-id': first?.id ?? '' });
    expect(await last.messages()).toEqual([{ jsonrpc: '2.0', id: 1, result: { released: true } }]);
    const again = await listen(id, { 'last-event-id': cursor });
    expect(await again.messages()).toEqual([
      asMessage(1),
      { jsonrpc: '2.0', id: 1, result: { released: true } },
    ]);
  });

  it.each(['', 'x', '1', '1.999', '7.0', '99999999999999999999.1', '-1.0'])(
    'cannot be resumed from an event that never existed: %j.',
    async (event) => {
      const { begin, listen } = await serving();
      const reply = await listen(await begin(), { 'last-event-id': event || 'none' });
      expect([reply.status, await reply.json()]).toMatchObject([400, { id: null, error: { code: -32000 } }]);
    },
  );

  it('cannot be resumed if events are missing.', async () => {
    const { begin, post, listen } = await serving({ events: { maxBytes: 300 } });
    const id = await begin();
    const reply = await post(id, call(1, 'notify', { times: 20 }));
    const events = await reply.events();
    expect((await listen(id, { 'last-event-id': events[0]?.id ?? '' })).status).toBe(400);
    const resumed = await listen(id, { 'last-event-id': events.at(-2)?.id ?? '' });
    expect(await resumed.messages()).toEqual([{ jsonrpc: '2.0', id: 1, result: { sent: 20 } }]);
  });

  it('sends comments to keep the connection alive while it is quiet.', async () => {
    const clock = createControlledClock();
    const { begin, listen, gateway } = await serving({ clock });
    const listening = await listen(await begin());
    await listening.event();
    await clock.advance(15_000);
    gateway.last.send(notification(1));
    await listening.event();
    expect(listening.comments).toBe(1);
  });

  it('is cut off if its client does not read, and the gateway buffers a bounded amount.', async () => {
    const { begin, listen, gateway } = await serving();
    const id = await begin();
    const listening = await listen(id);
    const cursor = (await listening.event())?.id ?? '';
    const text = 'x'.repeat(1_024 * 1_024);
    const session = gateway.last;
    for (let n = 0; n < 60; n += 1) session.send({ method: 'notifications/test', params: { n, text } });
    expect((await listening.events()).length).toBeLessThan(60);
    expect((await listen(id, { 'last-event-id': cursor })).status).toBe(400);
    const kept = await listen(id);
    await kept.event();
    expect((await kept.event())?.message).toMatchObject({ params: { n: 57 } });
    kept.leave();
  });
});

describe('a finished response', () => {
  it(
    'is cut off if its client reads the rest too slowly, and the answer is kept for a resumption.',
    async () => {
      const clock = createControlledClock();
      const { begin, listen, service, gateway } = await serving({ clock, events: { maxBytes: 64 * MIB } });
      const id = await begin();
      const body = JSON.stringify(call(1, 'hold', { text: 'x' }));
      const socket = connect(service.port, '127.0.0.1').on('error', () => {});
      const head = { ...ofSession(id), host: `127.0.0.1:${service.port}`, accept: '*/*' };
      const lines = Object.entries({
        ...head,
        'content-type': 'application/json',
        'content-length': body.length,
      });
      socket.write(
        `POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${String(value)}\r\n`).join('')}\r\n`,
      );
      socket.write(body);
      await expect.poll(() => gateway.last.held).toEqual([1]);
      gateway.last.send({ method: 'notifications/test', params: { text: 'x'.repeat(15 * MIB) } }, 1);
      gateway.last.release(1);
      await clock.advance(30_000);
      const got = await bytesUntilClosed(socket);
      expect(got).toBeLessThan(15 * MIB);
      const resumed = await listen(id, { 'last-event-id': '1.0' });
      expect((await resumed.messages()).at(-1)).toMatchObject({ id: 1, result: { released: true } });
    },
    SLOW_MS,
  );
});

/** The number of bytes until the other side closed the connection. */
async function bytesUntilClosed(socket: Socket): Promise<number> {
  let bytes = 0;
  socket.on('data', ({ length }: Buffer) => (bytes += length));
  await once(socket, 'close');
  return bytes;
}

describe('the event log of the streams', () => {
  const bytesOf = (log: HttpEventLog, stream: number): number =>
    log.since({ stream, seq: 0 }).reduce((sum, { data }) => sum + data.length, 0);

  it('keeps a bounded number of bytes for all streams together.', () => {
    const log = new HttpEventLog(createControlledClock(), { maxBytes: 10 });
    log.begin(0);
    log.begin(1);
    for (let n = 0; n < 9; n += 1) log.add(n % 2, 'abc');
    expect(bytesOf(log, 0) + bytesOf(log, 1)).toBe(9);
    log.add(0, 'longer than everything');
    expect([bytesOf(log, 0), bytesOf(log, 1)]).toEqual([0, 0]);
    expect(log.isWholeSince({ stream: 0, seq: 9 })).toBe(false);
    log.close();
  });

  it('drops old events by itself.', async () => {
    const clock = createControlledClock();
    const log = new HttpEventLog(clock, { maxAgeMs: 1_000 });
    const begun = log.begin(3);
    log.add(3, 'first');
    await clock.advance(600);
    log.add(3, 'second');
    await clock.advance(500);
    expect(log.since(begun).map(({ data }) => data)).toEqual(['second']);
    await clock.advance(600);
    expect([log.since(begun), log.isWholeSince(begun)]).toEqual([[], false]);
    expect(clock.pending).toEqual([]);
  });

  it('drops a finished stream with its last event, and keeps other streams.', async () => {
    const clock = createControlledClock();
    const log = new HttpEventLog(clock, { maxAgeMs: 1_000 });
    const [one, two] = [log.begin(1), log.begin(2)];
    log.add(1, 'a');
    log.finish(1);
    expect(log.isWholeSince(one)).toBe(true);
    await clock.advance(1_001);
    expect([log.isWholeSince(one), log.isWholeSince(two)]).toEqual([false, true]);
    log.finish(2);
    expect(log.isWholeSince(two)).toBe(false);
    log.close();
  });

  it('parses an event id that it has formatted.', () => {
    const cursor = { stream: 12, seq: 345 };
    expect(toCursor(toEventId(cursor))).toEqual(cursor);
  });
});
