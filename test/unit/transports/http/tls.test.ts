/** Servers behind TLS. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../../src/ports.js';
import { createStreamableHttpTransport } from '../../../../src/transports/http/streamable-http.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { CERTIFICATE, KEY } from './self-signed.js';
import { failureOf, INITIALIZE, record } from '../../../support/session-record.js';

useLeakCheck();

describe('A server behind TLS', () => {
  let server: https.Server;
  let url: string;

  beforeEach(async () => {
    server = https.createServer({ key: KEY, cert: CERTIFICATE }, (req, res) => {
      req.resume();
      if (req.url === '/cut') return void res.destroy();
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end('{"jsonrpc":"2.0","id":0,"result":{}}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });

  it('is refused if its certificate is untrusted, with a hint, and nothing was sent', async () => {
    const transport = createStreamableHttpTransport({ url, clock: systemClock, stop: { deleteMs: 0 } });
    await transport.start();
    const { failure, written } = await failureOf(transport.send(INITIALIZE));
    expect(failure.code).toBe('address-refused');
    expect(failure.message).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(failure.hint).toContain('NODE_EXTRA_CA_CERTS');
    expect(written).toBe(false);
    await transport.close();
  });

  it('is used if it is trusted, and a later break is reported as such', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    const transport = createStreamableHttpTransport({ url, clock: systemClock, stop: { deleteMs: 0 } });
    const recorded = record(transport);
    await transport.start();
    await transport.send(INITIALIZE);
    expect(recorded.messages).toHaveLength(1);
    await transport.close();

    const cut = createStreamableHttpTransport({
      url: `${url}/cut`,
      clock: systemClock,
      stop: { deleteMs: 0 },
    });
    await cut.start();
    const { failure, written } = await failureOf(cut.send(INITIALIZE));
    expect(failure.code).toBe('connection-lost');
    expect(written).toBe(true);
    await cut.close();
  });
});
