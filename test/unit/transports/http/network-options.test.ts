import { describe, expect, it } from 'vitest';
import { networkProblems } from '../../../../src/transports/http/network-options.js';

const CLIENT = { request: () => Promise.reject(new Error('not used')) };

describe('The option network', () => {
  it.each([
    [undefined],
    [{}],
    [() => undefined],
    [{ proxy: 'http://proxy.example:3128', ca: ['a.pem'], cert: 'b.pem', key: 'c.pem', passphrase: 'd' }],
    [{ proxy: false, ca: 'a.pem', cert: 'b.pem' }],
    [{ fetch: globalThis.fetch }],
    [{ dispatcher: CLIENT }],
  ])('may be %j', (network) => {
    expect(networkProblems(network)).toEqual([]);
  });

  it.each([
    ['direct', ['network']],
    [null, ['network']],
    [{ proxy: true }, ['network.proxy']],
    [{ proxy: '' }, ['network.proxy']],
    [{ ca: [1] }, ['network.ca']],
    [{ key: 'c.pem' }, ['network.key']],
    [{ fetch: 'fetch' }, ['network.fetch']],
    [{ dispatcher: {} }, ['network.dispatcher']],
    [
      { fetch: globalThis.fetch, proxy: 'http://proxy.example', ca: 'a.pem' },
      ['network.proxy', 'network.ca'],
    ],
    [{ fetch: globalThis.fetch, dispatcher: CLIENT }, ['network.dispatcher']],
    [{ dispatcher: CLIENT, cert: 'b.pem' }, ['network.cert']],
    [{ Proxy: 'http://proxy.example' }, ['network.Proxy']],
  ])('may not be %j', (network, fields) => {
    expect(networkProblems(network).map(({ field }) => field)).toEqual(fields);
  });
});
