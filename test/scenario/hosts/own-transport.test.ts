/** A transport of the host, supervised like any other. */
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { describe, expect, it } from 'vitest';
import { ownTransport } from '../../../src/transports/own-transport.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer } from '../../support/scripted-server.js';
import { passTime, useTroupes, whenState } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
const { make } = useTroupes();

/** A server behind linked transports, of which a test holds the host's end. */
function remote(server = new ScriptedServer()) {
  const made: InMemoryTransport[] = [];
  const own = ownTransport(async () => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.connect(far);
    made.push(near);
    return near;
  });
  return { made, server, entry: { type: 'in-process', server: own } as const };
}

describe('a transport of the host', () => {
  it('carries the session and its calls, and is closed with it', async () => {
    const { made, entry } = remote();
    const { troupe, clock } = make({ servers: { far: entry } });
    expect(await troupe.start()).toMatchObject({ ready: ['far'] });
    expect(await troupe.callTool('mcp__far__echo', { a: 1 })).toMatchObject({ content: [{ type: 'text' }] });
    let isClosed = false;
    const { onclose } = made[0]!;
    made[0]!.onclose = () => {
      isClosed = true;
      onclose?.();
    };
    await passTime(clock, troupe.close());
    expect(isClosed).toBe(true);
  });

  it('that closes is a lost session, and the next session gets a new one', async () => {
    const { made, entry } = remote();
    const test = make({ servers: { far: entry } });
    await test.troupe.start();
    const lost = test.events.next('connection.lost');
    await made[0]!.close();
    expect(await lost).toMatchObject({ failure: { code: 'connection-lost' } });
    await passTime(test.clock, whenState(test, 'far', 'ready'));
    expect(made).toHaveLength(2);
  });

  it('that cannot send ends the session: what became of the call is unknown', async () => {
    const { made, entry } = remote();
    const { troupe, clock } = make({ servers: { far: entry }, retryCalls: 'never' });
    await troupe.start();
    made[0]!.send = () => Promise.reject(new Error('the pipe is broken'));
    await expect(passTime(clock, troupe.callTool('mcp__far__echo'))).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      message: expect.stringContaining('the pipe is broken') as string,
    });
  });

  it.each([
    ['cannot be made', () => Promise.reject(new Error('no route'))],
    [
      'cannot be started',
      () => ({ start: () => Promise.reject(new Error('no route')), close: async () => {} }),
    ],
  ])('that %s is a failed attempt with the reason', async (_, make_) => {
    const server = ownTransport(make_ as never);
    const { troupe } = make({ servers: { far: { type: 'in-process', server, policy: { maxAttempts: 1 } } } });
    const { failed } = await troupe.start();
    expect(failed).toMatchObject([{ failure: { message: expect.stringContaining('no route') as string } }]);
  });

  it('is made by a function', () => {
    expect(() => ownTransport({} as never)).toThrow(TypeError);
  });
});
