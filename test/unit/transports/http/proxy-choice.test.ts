import { describe, expect, it } from 'vitest';
import { isExcepted, parseProxy, proxyOfEnvironment } from '../../../../src/transports/http/proxy-choice.js';

const HTTP = 'http://plain.example:3128';
const HTTPS = 'http://secure.example:3128';
const ALL = 'http://all.example:3128';

const choose = (url: string, env: Record<string, string>): string | undefined =>
  proxyOfEnvironment(new URL(url), env)?.shown;

describe('The proxy of the environment', () => {
  it.each([
    ['http://far.example/mcp', { http_proxy: HTTP, https_proxy: HTTPS }, HTTP],
    ['https://far.example/mcp', { http_proxy: HTTP, https_proxy: HTTPS }, HTTPS],
    ['https://far.example/mcp', { HTTPS_PROXY: HTTPS }, HTTPS],
    ['https://far.example/mcp', { https_proxy: HTTPS, HTTPS_PROXY: HTTP }, HTTPS],
    ['https://far.example/mcp', { HTTP_PROXY: HTTP }, undefined],
    ['http://far.example/mcp', { ALL_PROXY: ALL }, ALL],
    ['https://far.example/mcp', { all_proxy: ALL, HTTPS_PROXY: HTTPS }, HTTPS],
    ['https://far.example/mcp', { https_proxy: '', HTTPS_PROXY: HTTPS, ALL_PROXY: ALL }, undefined],
    ['https://far.example/mcp', { HTTPS_PROXY: 'secure.example:3128' }, HTTPS],
    ['https://far.example/mcp', {}, undefined],
  ])('for %s with %j', (url, env, proxy) => {
    expect(choose(url, env)).toBe(proxy);
  });

  it.each(['localhost', '127.0.0.1', '127.9.9.9', '[::1]', 'app.localhost', 'LOCALHOST'])(
    'is not used for this computer: %s',
    (host) => {
      expect(choose(`http://${host}:8080/mcp`, { ALL_PROXY: ALL, HTTP_PROXY: HTTP })).toBeUndefined();
    },
  );

  it.each(['socks5://proxy.example:1080', 'ftp://proxy.example', 'http://', '::'])(
    'cannot be used: %s',
    (text) => {
      expect(() => choose('https://far.example/', { HTTPS_PROXY: text })).toThrow(
        expect.objectContaining({ failure: expect.objectContaining({ code: 'config-invalid' }) }),
      );
    },
  );

  it('has its credentials only in the header for the proxy', () => {
    const proxy = parseProxy('https://ann%40work:s%3Acret@proxy.example', 'HTTPS_PROXY');
    expect(proxy.authorization).toBe(`Basic ${Buffer.from('ann@work:s:cret').toString('base64')}`);
    expect(proxy.url.href).toBe('https://proxy.example/');
    expect(proxy.shown).toBe('https://proxy.example');
    expect(() => parseProxy('socks5://ann:secret@proxy.example', 'X')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') }),
    );
  });
});

describe('NO_PROXY', () => {
  it.each([
    ['far.example', 'https://far.example/'],
    ['FAR.example', 'https://far.EXAMPLE/'],
    ['example', 'https://far.example/'],
    ['.far.example', 'https://a.far.example/'],
    ['.far.example', 'https://far.example/'],
    ['*.far.example', 'https://a.b.far.example/'],
    ['*ar.example', 'https://far.example/'],
    ['far.example.', 'https://far.example/'],
    ['far.example', 'https://far.example./'],
    ['near.example, far.example', 'https://far.example/'],
    ['near.example far.example', 'https://far.example/'],
    ['*', 'https://far.example/'],
    ['far.example:443', 'https://far.example/'],
    ['far.example:80', 'http://far.example/'],
    ['far.example:8443', 'https://far.example:8443/'],
    ['10.1.2.3', 'http://10.1.2.3:9000/'],
    ['10.1.2.3:9000', 'http://10.1.2.3:9000/'],
    ['10.0.0.0/8', 'http://10.1.2.3/'],
    ['fd00::1', 'http://[fd00::1]/'],
    ['[fd00::1]:8080', 'http://[fd00::1]:8080/'],
    ['fd00::/8', 'http://[fd12::9]/'],
  ])('%s names %s', (exceptions, url) => {
    expect(isExcepted(new URL(url), exceptions)).toBe(true);
    expect(choose(url, { ALL_PROXY: ALL, NO_PROXY: exceptions })).toBeUndefined();
  });

  it.each([
    ['', 'https://far.example/'],
    [',', 'https://far.example/'],
    ['far.example', 'https://notfar.example/'],
    ['.far.example', 'https://notfar.example/'],
    ['*.far.example', 'https://notfar.example/'],
    ['far.example:8443', 'https://far.example/'],
    ['a.far.example', 'https://far.example/'],
    ['2.3', 'http://10.1.2.3/'],
    ['10.0.0.0/8', 'http://11.1.2.3/'],
    ['10.0.0.0/99', 'http://10.1.2.3/'],
    ['10.0.0.0/8', 'http://ten.example/'],
    ['[fd00::1]:8080', 'http://[fd00::1]/'],
  ])('%s does not name %s', (exceptions, url) => {
    expect(isExcepted(new URL(url), exceptions)).toBe(false);
    expect(choose(url, { ALL_PROXY: ALL, NO_PROXY: exceptions })).toBe(ALL);
  });
});
