/** Servers that cannot answer while their listening stream is open. */
import { describe, expect, it } from 'vitest';
import type { HttpMemory } from '../../../../src/transports/http/http-session.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { useHttpFixture } from '../../../support/http-fixture.js';
import { failureOf, open, request } from '../../../support/session-record.js';
import { answer, echo, mcp, openStream, refuse, result, type Handler } from '../../../support/http-server.js';

useLeakCheck();
const connect = useHttpFixture();

const fresh = (): HttpMemory => ({ forgotten: 0, isStreamDisabled: false });
const isGet = ({ method }: { readonly method: string }): boolean => method === 'GET';

/** Answers a request only when no stream is open. */
function oneAtATime(): Handler {
  let streams = 0;
  const waiting: (() => void)[] = [];
  return mcp({
    sessionId: 's-1',
    listen: (seen, res) => {
      streams += 1;
      openStream(res);
      void seen.over.then(() => {
        streams -= 1;
        for (const go of waiting.splice(0)) go();
      });
    },
    request: (seen, res) => {
      if (streams === 0) echo(seen, res);
      else waiting.push(() => echo(seen, res));
    },
  });
}

describe('The listening stream', () => {
  it('is not opened if the entry says so', async () => {
    const { server, transport, recorded } = await connect(oneAtATime(), { listen: false });
    await open(transport);
    await transport.send(request(1, 'tools/list'));
    expect(recorded.messages.at(-1)).toEqual(result(1, { method: 'tools/list' }));
    expect(server.seen.filter(isGet)).toEqual([]);
  });

  it('is left shut if the server answers nothing while it is open, in later sessions as well', async () => {
    const memory = fresh();
    const { server, clock, transport, recorded } = await connect(oneAtATime(), { memory });
    await open(transport);
    const [stream] = await server.arrived(isGet);
    const sent = transport.send(request(1, 'tools/list'));
    await server.arrived(({ rpc }) => rpc.method === 'tools/list');
    await clock.whenSet(5_000);
    await clock.advance(5_000);
    await stream?.over;
    await sent;
    expect(recorded.messages.at(-1)).toEqual(result(1, { method: 'tools/list' }));
    expect(recorded.notices.map(({ kind }) => kind)).toEqual(['no-listening-stream']);
    await transport.send(request(2, 'tools/list'));
    await clock.advance(60_000);
    expect(server.seen.filter(isGet)).toHaveLength(1);
    expect(clock.pending).toEqual([]);

    const later = await connect(oneAtATime(), { memory });
    await open(later.transport);
    await later.transport.send(request(1, 'tools/list'));
    expect(later.server.seen.filter(isGet)).toEqual([]);
  });

  it('is opened again if the server is only slow', async () => {
    let finish = (): void => {};
    const memory = fresh();
    const { server, clock, transport, recorded } = await connect(
      mcp({
        listen: (_seen, res) => void openStream(res),
        request: (seen, res) => (finish = () => answer(res, seen, {})),
      }),
      { memory },
    );
    await open(transport);
    await server.arrived(isGet);
    const sent = transport.send(request(1, 'tools/call'));
    await server.arrived(({ rpc }) => rpc.method === 'tools/call');
    await clock.whenSet(5_000);
    await clock.advance(5_000);
    await clock.whenSet(3_000);
    await clock.advance(3_000);
    await server.arrived(isGet, 2);
    await clock.advance(60_000);
    expect(server.seen.filter(isGet)).toHaveLength(2);
    finish();
    await sent;
    expect(recorded.notices).toEqual([]);
    expect(memory.isStreamDisabled).toBe(false);
  });

  it('may be closed in the meantime', async () => {
    const { server, clock, transport } = await connect(
      mcp({ listen: (_seen, res) => void openStream(res), request: () => {} }),
    );
    await open(transport);
    await server.arrived(isGet);
    const lost = failureOf(transport.send(request(1, 'tools/call')));
    await clock.whenSet(5_000);
    await clock.advance(5_000);
    await transport.close();
    expect((await lost).failure.code).toBe('connection-lost');
    expect(clock.pending).toEqual([]);
    await server.idle();
  });

  it('is left shut if the server forgets two sessions in a row as soon as it is open', async () => {
    const memory = fresh();
    for (let session = 1; session <= 3; session += 1) {
      let isForgotten = false;
      const { server, transport, recorded } = await connect(
        mcp({
          sessionId: `s-${session}`,
          listen: (_seen, res) => {
            isForgotten = true;
            openStream(res);
          },
          request: (seen, res) => (isForgotten ? refuse(404, 'no such session') : echo)(seen, res),
        }),
        { memory },
      );
      await open(transport);
      if (session === 3) {
        await transport.send(request(1, 'tools/list'));
        expect(server.seen.filter(isGet)).toEqual([]);
      } else {
        await server.arrived(isGet);
        expect((await failureOf(transport.send(request(1, 'tools/list')))).failure.code).toBe(
          'session-expired',
        );
        expect(recorded.notices).toHaveLength(session - 1);
      }
      await transport.close();
    }
  });
});
