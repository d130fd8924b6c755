import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../../support/leak-check.js';
import { HttpEndpoint } from '../../../support/tools/chaos.js';

describe('an HTTP server of the chaos run', () => {
  useLeakCheck();

  it('executes orders one after another.', async () => {
    const endpoint = new HttpEndpoint('', false);
    await endpoint.listen(16_500, 1);
    const { port } = endpoint;
    await Promise.all([
      endpoint.refuse(),
      endpoint.listen(port, 0),
      endpoint.refuse(),
      endpoint.listen(port, 0),
    ]);
    const client = connect(port, '127.0.0.1');
    await once(client, 'connect');
    client.destroy();
    await endpoint.refuse();
    await expect(once(connect(port, '127.0.0.1'), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
