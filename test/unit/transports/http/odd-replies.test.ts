/** Replies that `node:http` has opinions of its own on: each settles its request, and leaves no socket. */
import { expect, it } from 'vitest';
import { useLeakCheck } from '../../../support/leak-check.js';
import { useHttpFixture } from '../../../support/http-fixture.js';
import { failureOf, INITIALIZE } from '../../../support/session-record.js';

useLeakCheck();
const connect = useHttpFixture();

it.each(['upgrade: x\r\nconnection: upgrade', 'x: y'])(
  'A change of the protocol that nobody asked for is a refusal: %j',
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
it.each(ODD_ERRORS)('An error that is no object, or says nothing, is an odd answer: %s', async (error) => {
  const { server, transport } = await connect((_seen, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(`{"jsonrpc":"2.0","id":null,"error":${error}}`);
  });
  await transport.start();
  const { failure } = await failureOf(transport.send(INITIALIZE));
  expect(failure).toMatchObject({
    code: 'protocol-error',
    message: expect.stringMatching(/to it\.$/) as string,
  });
  await transport.close();
  await server.idle();
});

it.each(['{"toString":null}', '[{"toString":null}]', 'true'])(
  'A refusal that names no request is a refusal all the same: %s',
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
