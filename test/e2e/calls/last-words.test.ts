/** An answer that a server sent before it ended counts; a missing one is not waited for. */
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents } from '../../support/event-record.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, text } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';
import {
  answer,
  event,
  mcp,
  openStream,
  result,
  startServer,
  type Handler,
} from '../../support/http-server.js';

const DYING_SERVER = fileURLToPath(new URL('dying-server.mjs', import.meta.url));

describe('a process that ends during a call', () => {
  useLeakCheck();
  useCrashWatch();

  it.each(['answer-and-exit', 'answer-without-newline-and-exit'])(
    'delivers the answer that it wrote before it ended (%s)',
    async (tool) => {
      await using troupe = createTroupe({
        servers: { a: { command: process.execPath, args: [DYING_SERVER] } },
      });
      const events = recordEvents(troupe.events$);
      await troupe.start();
      await expect(troupe.connection('a')?.callTool(tool)).resolves.toEqual(text('last words'));
      const { failure } = await events.when('connection.lost');
      expect(failure.exit).toEqual({ code: 3, signal: null });
      expect(events.of('call.finished')).toMatchObject([{ outcome: 'answered' }]);
    },
  );

  it('may have received a call that the pipe accepted, but not one that was still waiting to be written', async () => {
    await using troupe = createTroupe({
      servers: { a: { command: process.execPath, args: [DYING_SERVER, '--deaf'], retryCalls: 'never' } },
    });
    await troupe.start();
    const connection = troupe.connection('a');
    const filling = connection?.callTool('exit', { much: 'x'.repeat(4 * 1024 * 1024) });
    filling?.catch(() => {});
    await new Promise((resolve) => process.nextTick(resolve));
    const waiting = connection?.callTool('exit');
    waiting?.catch(() => {});
    await expect(filling).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await expect(waiting).rejects.toMatchObject({ code: 'NOT_READY' });
  });
});

describe('an in-process server that closes during a call', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('delivers the answer that it sent before it closed', async () => {
    const server: ScriptedServer = new ScriptedServer({
      on: {
        'tools/call': (_, { id }) => {
          server.send(result(id, text('last words')));
          void server.die();
          return text('never sent');
        },
      },
    });
    const { troupe, clock, events } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    await expect(troupe.callTool('mcp__a__echo')).resolves.toEqual(text('last words'));
    await passTime(clock, events.when('connection.lost'));
  });
});

describe('the stream of an HTTP answer', () => {
  useLeakCheck();
  useCrashWatch();
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  const connect = async (call: Handler, listen?: Handler, annotations = {}): Promise<Troupe> => {
    const server = await startServer(
      mcp({
        sessionId: 's',
        ...(listen === undefined ? {} : { listen }),
        request: (seen, res) => {
          if (seen.rpc.method === 'tools/call') return call(seen, res);
          answer(res, seen, { tools: [{ name: 'echo', annotations, inputSchema: { type: 'object' } }] });
        },
      }),
    );
    closing.push(() => server.close());
    const troupe = createTroupe({ servers: { a: { type: 'http', url: server.url } } });
    closing.push(() => troupe.close());
    await troupe.start();
    return troupe;
  };

  it.each<[string, Handler]>([
    ['ends', (_, res) => void openStream(res).end()],
    ['breaks off', (_, res) => void openStream(res).destroy()],
    [
      'ends after something else',
      (_, res) => void openStream(res).end(event({ jsonrpc: '2.0', method: 'notifications/message' })),
    ],
  ])('that %s without it settles that call at once, and the session goes on', async (_, call) => {
    let isFirst = true;
    const troupe = await connect((seen, res) => {
      if (!isFirst) return answer(res, seen, text('still here'));
      isFirst = false;
      call(seen, res);
    });
    const events = recordEvents(troupe.events$);
    await expect(troupe.callTool('mcp__a__echo', {}, { timeoutMs: 0 })).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      failure: { code: 'connection-lost' },
    });
    await expect(troupe.callTool('mcp__a__echo')).resolves.toEqual(text('still here'));
    expect(events.of('call.finished').map(({ outcome }) => outcome)).toEqual(['outcome-unknown', 'answered']);
    expect(events.of('connection.lost')).toEqual([]);
  });

  it('that ends without the answer leads to a second request if the tool is read-only', async () => {
    let asked = 0;
    const troupe = await connect(
      (seen, res) => {
        asked += 1;
        if (asked === 1) openStream(res).end();
        else answer(res, seen, text('here you are'));
      },
      undefined,
      { readOnlyHint: true },
    );
    const events = recordEvents(troupe.events$);
    await expect(troupe.callTool('mcp__a__echo')).resolves.toEqual(text('here you are'));
    expect(events.of('call.finished').map(({ outcome }) => outcome)).toEqual(['outcome-unknown', 'answered']);
    expect(events.of('connection.lost')).toEqual([]);
  });

  it('that ends after an event with an id is resumed, and the answer arrives', async () => {
    let asked: number | string | undefined;
    const troupe = await connect(
      ({ rpc }, res) => {
        asked = rpc.id;
        openStream(res).end(`retry: 10\n${event({ jsonrpc: '2.0', method: 'notifications/message' }, '7')}`);
      },
      ({ headers }, res) => {
        if (headers['last-event-id'] !== '7') return void res.writeHead(405).end();
        openStream(res).end(event(result(asked, text('in the end'))));
      },
    );
    await expect(troupe.callTool('mcp__a__echo')).resolves.toEqual(text('in the end'));
  });
});
