/** Data of a server that is nested too deeply to search for secrets is cut off, and calls keep their outcomes. */
import { describe, expect, it } from 'vitest';
import { JsonRpcError } from '../../../src/errors.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { refuse, text, type Script } from '../../support/scripted-server.js';
import { useTroupes } from '../../support/test-troupe.js';

const SECRET = 'a-secret-of-the-entry';

function nested(levels: number): unknown {
  let value: unknown = SECRET;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

describe('a server that nests a hundred thousand levels', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  async function begin(script: Script) {
    const server = new FakeServer(() => ({}), script);
    const test = make({ servers: { a: { command: server.command, env: { TOKEN: SECRET } } } });
    return { ...test, server, report: await test.troupe.start() };
  }

  it('in the data of an error fails the call with that error, and the call is finished', async () => {
    const { troupe, events } = await begin({ on: { 'tools/call': refuse(-5, 'no', nested(100_000)) } });
    const error: unknown = await troupe.callTool('mcp__a__echo').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(JsonRpcError);
    expect(error).toMatchObject({ rpcCode: -5 });
    const data = JSON.stringify((error as JsonRpcError).data);
    expect(data).toMatch(/^\{"a":\[.*nested/);
    expect(data).not.toContain(SECRET);
    expect(events.of('call.finished')).toMatchObject([{ outcome: 'server-error' }]);
  });

  it('in its capabilities is still ready', async () => {
    const { troupe, report } = await begin({
      capabilities: { tools: {}, experimental: nested(100_000) },
    });
    expect(report.ready).toEqual(['a']);
    expect(JSON.stringify(troupe.status)).not.toContain(SECRET);
  });
});

describe('a notification that nests a hundred thousand levels', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it.each([{ TOKEN: SECRET }, {}])(
    'is delivered without the levels that are too deep, and so is the next one: env %j',
    async (env) => {
      const server = new FakeServer(() => ({}), { on: { 'tools/call': () => text('fine') } });
      const { troupe, events } = make({ servers: { a: { command: server.command, env } } });
      await troupe.start();
      server.peer.notify('notifications/message', { level: 'info', data: nested(100_000) });
      server.peer.notify('notifications/message', { level: 'info', data: 'after' });
      await expect(troupe.callTool('mcp__a__echo')).resolves.toEqual(text('fine'));
      expect(events.of('server.log').map(({ message }) => message)).toEqual([
        expect.stringContaining('nested'),
        'after',
      ]);
    },
  );
});
