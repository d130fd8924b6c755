/** A call in flight settles before the loss of its connection is reported, over every transport. */
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { TroupeError } from '../../../src/errors.js';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents, type EventRecord } from '../../support/event-record.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, silent } from '../../support/scripted-server.js';
import { inProcess } from '../../support/test-troupe.js';
import { answer, mcp, openStream, startServer, type Seen } from '../../support/http-server.js';

const DYING_SERVER = fileURLToPath(new URL('dying-server.mjs', import.meta.url));

/** A server and what makes it end while a call is in flight. */
interface Mortal {
  readonly config: ServerConfig;
  readonly tool: string;
  /** The code of the error that its caller gets. */
  readonly code: string;
  die(troupe: Troupe): Promise<void> | void;
}

describe('a call in flight is settled before the loss of its connection is reported', () => {
  useLeakCheck();
  useCrashWatch();
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  const stdio = async (): Promise<Mortal> => ({
    config: { command: process.execPath, args: [DYING_SERVER] },
    tool: 'exit',
    code: 'OUTCOME_UNKNOWN',
    die: () => {},
  });

  const inMemory = async (): Promise<Mortal> => {
    const server = new ScriptedServer({ on: { 'tools/call': silent } });
    return {
      config: inProcess(server),
      tool: 'echo',
      code: 'OUTCOME_UNKNOWN',
      die: async () => {
        await server.whenReceived('tools/call');
        void server.die();
      },
    };
  };

  const list = ({ rpc }: Seen): object =>
    rpc.method === 'tools/list' ? { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } : {};

  const expired = async (): Promise<Mortal> => {
    const server = await startServer(
      mcp({
        sessionId: 's',
        request: (seen, res) =>
          seen.rpc.method === 'tools/call' ? void res.writeHead(404).end() : answer(res, seen, list(seen)),
      }),
    );
    closing.push(() => server.close());
    return {
      config: { type: 'http', url: server.url, retryCalls: 'never' },
      tool: 'echo',
      code: 'NOT_READY',
      die: () => {},
    };
  };

  /** The call has a stream for its answer; another request learns that the session is gone. */
  const expiredMeanwhile = async (): Promise<Mortal> => {
    const server = await startServer(
      mcp({
        sessionId: 's',
        request: (seen, res) => {
          if (seen.rpc.method === 'tools/call') openStream(res);
          else answer(res, seen, list(seen));
        },
      }),
    );
    closing.push(() => server.close());
    return {
      config: { type: 'http', url: server.url },
      tool: 'echo',
      code: 'OUTCOME_UNKNOWN',
      die: async (troupe) => {
        await server.arrived(({ rpc }) => rpc.method === 'tools/call');
        server.handle = (_, res) => void res.writeHead(404).end();
        troupe.connection('a')?.dispatch({ type: 'connection.refresh' });
      },
    };
  };
  const begin = (mortal: Mortal): { troupe: Troupe; events: EventRecord } => {
    const troupe = createTroupe({ servers: { a: mortal.config }, policy: { backoff: [50] } });
    closing.push(() => troupe.close());
    return { troupe, events: recordEvents(troupe.events$) };
  };

  const expectOrder = async (mortal: Mortal, waits: boolean): Promise<void> => {
    const { troupe, events } = begin(mortal);
    const order: string[] = [];
    troupe.events$.subscribe(({ type }) => order.push(type));
    const starting = troupe.start();
    if (!waits) await starting;
    else await events.when('connection.added');
    const call = troupe
      .connection('a')
      ?.callTool(mortal.tool)
      .then(
        () => order.push('answered'),
        (error: unknown) => order.push((error as TroupeError).code),
      );
    await events.when('call.started');
    await mortal.die(troupe);
    await Promise.all([call, events.when('connection.lost')]);
    const relevant = order.filter((word) => ['call.finished', mortal.code, 'connection.lost'].includes(word));
    expect(relevant.slice(0, 3).toSorted()).toEqual(
      ['call.finished', 'connection.lost', mortal.code].toSorted(),
    );
    expect(relevant[2]).toBe('connection.lost');
    const leaving = events.all.findIndex(({ type }) => type === 'connection.lost');
    const finished = events.all.findIndex(({ type }) => type === 'call.finished');
    expect(finished).toBeLessThan(leaving);
  };

  const mortals: [string, () => Promise<Mortal>][] = [
    ['a process that exits', stdio],
    ['an in-process server that closes', inMemory],
    ['an HTTP session that has expired', expired],
    ['an HTTP session that expires for another request', expiredMeanwhile],
  ];

  it.each(mortals)('if the cause is %s', async (_, make) => {
    await expectOrder(await make(), false);
  });

  it.each(mortals)('if the cause is %s and the call had to wait for its session', async (_, make) => {
    await expectOrder(await make(), true);
  });
});
