/** Output of a server other than answers becomes events, with limits for readers. */
import { describe, expect, it } from 'vitest';
import { useCrashWatch } from '../../support/crash-watch.js';
import { FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useSupervised, type Supervised } from '../../support/supervised.js';

describe('output of a server', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useSupervised();

  const begin = async (): Promise<Supervised> => {
    const one = make(new FakeServer());
    await one.connection.ready();
    return one;
  };

  it('on stderr is a log of its session', async () => {
    const { server, events } = await begin();
    server.transport.simulateStderr('warming up');
    expect(await events.when('server.log')).toMatchObject({
      server: 'a',
      generation: 1,
      stream: 'stderr',
      message: 'warming up',
    });
  });

  it('on stderr stays readable in its status row', async () => {
    const { server, connection } = await begin();
    server.transport.simulateStderr('one');
    server.transport.simulateStderr('two');
    expect(connection.status.stderrTail).toEqual(['one', 'two']);
  });

  it.each([
    ['text', 'plain', 'plain'],
    ['an object', { a: [1] }, '{"a":[1]}'],
    ['nothing', undefined, 'null'],
  ])('as a log message of the protocol that holds %s is a log', async (_, data, message) => {
    const { server, events } = await begin();
    server.peer.notify('notifications/message', { level: 'warning', data });
    expect(await events.when('server.log')).toMatchObject({ stream: 'protocol', level: 'warning', message });
  });

  it('about a changed resource is published with its address', async () => {
    const { server, events } = await begin();
    server.peer.notify('notifications/resources/updated', { uri: 'file:///lamp.txt' });
    expect(await events.when('resource.updated')).toMatchObject({
      server: 'a',
      generation: 1,
      uri: 'file:///lamp.txt',
    });
  });

  it('about a resource without an address is not published', async () => {
    const { server, events } = await begin();
    server.peer.notify('notifications/resources/updated', {});
    server.peer.notify('notifications/message', { level: 'info', data: 'after it' });
    await events.when('server.log');
    expect(events.of('resource.updated')).toEqual([]);
  });

  it('is cut if it is very long', async () => {
    const { server, events } = await begin();
    server.peer.notify('notifications/message', { level: 'info', data: 'x'.repeat(1_000_000) });
    const { message } = await events.when('server.log');
    expect(message.length).toBeLessThan(5_000);
    expect(message).toContain('1000000 characters');
  });

  it('is a diagnostic if the transport reports a notice', async () => {
    const { server, events } = await begin();
    server.transport.simulateNotice({ kind: 'stdout-noise', message: 'not JSON' });
    expect(await events.when('diagnostic')).toMatchObject({
      kind: 'stdout-noise',
      server: 'a',
      generation: 1,
      message: 'not JSON',
    });
  });

  it('is reported at most twenty times in a session if it is invalid', async () => {
    const { server, connection, events } = await begin();
    for (let count = 0; count < 1_000; count += 1)
      server.peer.send({ jsonrpc: '2.0', id: `odd-${count}`, result: {} });
    await connection.callTool('echo');
    const oddities = events.of('diagnostic').filter(({ kind }) => kind === 'protocol-oddity');
    expect(oddities).toHaveLength(20);
    expect(oddities.at(-1)?.message).toContain('are not reported');
  });

  it('after its session was left is not attributed to the next session', async () => {
    const { server, connection, events, clock } = await begin();
    const old = server.transport;
    await connection.restart();
    old.simulateMessage({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    old.simulateEnd();
    await clock.advance(5_000);
    expect(connection.status).toMatchObject({ state: 'ready', generation: 2 });
    expect(server.peer.of('tools/list')).toHaveLength(2);
    expect(events.of('connection.lost')).toEqual([]);
  });
});

describe('a session that ends between two steps', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useSupervised();

  it('right after its last answer counts as lost and does not stay ready', async () => {
    const server = new FakeServer();
    const { connection, events, clock } = make(server);
    await server.peer.whenReceived('tools/list');
    server.transport.simulateEnd({ code: 'process-exited', message: 'It exited.' });
    await events.when('connection.retrying');
    await clock.advance(2_000);
    await connection.ready();
    expect(connection.status.generation).toBeGreaterThan(1);
  });
});
