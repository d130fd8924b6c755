/** Replies that `node:http` handles specially: each settles its request, and leaves no socket. */
import { expect, it } from 'vitest';
import { useLeakCheck } from '../../../support/leak-check.js';
import { useHttpFixture } from '../../../support/http-fixture.js';
import { failureOf, INITIALIZE } from '../../../support/session-record.js';

useLeakCheck();
const connect = useHttpFixture();

it.each(['upgrade: x\r\nconnection: upgrade', 'x: y'])(
  'An unrequested protocol switch is a refusal: %j',
  async (head) => {
    const { server, transport } = await connect(
      (_seen, res) => void res.socket?.write(`HTTP/1.1 101 Switching Protocols\r\n${head}\r\n\r\nwhatever`),
    );
    await transport.start();
    const { failure } = await failureOf(transport.send(INITIALIZE));
    expect(failure).toMatchObject({ code: 'http-status', http: { status: 101 } });
    await transport.close();
    await server.idle();
  },
);

const ODD_ERRORS = ['null', '7', '"no"', '{"code":-32700}', '{"message":{"toString":null}}'];
it.each(ODD_ERRORS)(
  'An error that is not an object, or has no message, is a protocol error: %s',
  async (error) => {
    const { server, transport } = await connect((_seen, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(`{"jsonrpc":"2.0","id":null,"error":${error}}`);
    });
    await transport.start();
    const { failure } = await failureOf(transport.send(INITIALIZE));
    expect(failure).toMatchObject({
      code: 'protocol-error',
    });
    await transport.close();
    await server.idle();
  },
);

it.each(['{"toString":null}', '[{"toString":null}]', 'true'])(
  'A refusal with an invalid id is still a refusal: %s',
  async (id) => {
    const { server, transport } = await connect((_seen, res) => {
      res.writeHead(400, { 'content-type': 'application/json' });
      res.end(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32000,"message":"no"}}`);
    });
    await transport.start();
    const { failure } = await failureOf(transport.send({ jsonrpc: '2.0', id: 2, method: 'tools/call' }));
    expect(failure).toMatchObject({ code: 'http-status', http: { status: 400 }, rpcCode: -32_000 });
    await transport.close();
    await server.idle();
  },
);
