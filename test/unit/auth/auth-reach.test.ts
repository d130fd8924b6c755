/** Where the OAuth metadata of a server may lead. */
import { describe, expect, it } from 'vitest';
import { AuthReach, requireOwnEndpoint, requireWellKnown } from '../../../src/auth/auth-reach.js';

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'mcp.example': ['93.184.215.14'],
  'login.example': ['93.184.215.15', '2606:2800:21f:cb07::1'],
  'inside.example': ['10.1.2.3'],
  'both.example': ['93.184.215.16', '127.0.0.1'],
  'cloud.example': ['169.254.169.254'],
  'mcp.corp': ['10.0.0.5'],
  'sso.corp': ['192.168.7.7'],
};

async function leads(server: string, to: string, named: readonly string[] = []): Promise<boolean> {
  const asked: string[] = [];
  const lookUp = async (host: string): Promise<readonly string[]> => {
    asked.push(host);
    const found = NAMES[host];
    if (found === undefined) throw new Error(`ENOTFOUND ${host}`);
    return found;
  };
  return new AuthReach(new URL(server), named, lookUp).require(new URL(to)).then(
    () => true,
    (error: unknown) => {
      expect(error).toMatchObject({ failure: { code: 'auth-required' } });
      return false;
    },
  );
}

describe('a server on the internet', () => {
  it.each([
    'https://mcp.example/token',
    'https://login.example/token',
    'https://93.184.215.15/token',
    'https://[2606:2800:21f:cb07::1]/token',
    'https://unknown.example/token',
  ])('may lead to %s.', async (to) => {
    expect(await leads('https://mcp.example/mcp', to)).toBe(true);
  });

  it.each([
    'https://127.0.0.1/',
    'https://127.9.9.9/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0.0.0.0/',
    'https://localhost/',
    'https://localhost./',
    'https://a.localhost/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:169.254.169.254]/',
    'https://[64:ff9b::a00:1]/',
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.1/',
    'https://172.16.0.1/',
    'https://172.31.255.255/',
    'https://192.168.1.1/',
    'https://100.64.0.1/',
    'https://[fd00::1]/',
    'https://[fe80::1]/',
    'https://inside.example/',
    'https://both.example/',
    'https://cloud.example/',
    'https://sso.corp/',
  ])('does not lead to %s.', async (to) => {
    expect(await leads('https://mcp.example/mcp', to)).toBe(false);
  });

  it('leads to a private address that the entry names.', async () => {
    expect(await leads('https://mcp.example/mcp', 'https://sso.corp/token', ['https://sso.corp/meta'])).toBe(
      true,
    );
    expect(await leads('https://mcp.example/mcp', 'https://10.9.9.9/', ['https://sso.corp/meta'])).toBe(
      false,
    );
  });
});

describe('a server elsewhere', () => {
  it.each([
    ['http://127.0.0.1:3000/mcp', 'http://localhost:8080/token', true],
    ['http://localhost:3000/mcp', 'http://[::1]:8080/token', true],
    ['http://localhost:3000/mcp', 'https://login.example/token', true],
    ['http://localhost:3000/mcp', 'https://sso.corp/token', true],
    ['http://localhost:3000/mcp', 'https://169.254.169.254/', false],
    ['https://mcp.corp/mcp', 'https://sso.corp/token', true],
    ['https://mcp.corp/mcp', 'https://login.example/token', true],
    ['https://mcp.corp/mcp', 'https://127.0.0.1/', false],
    ['https://mcp.corp/mcp', 'https://cloud.example/', false],
    ['https://10.0.0.5/mcp', 'https://10.0.0.6/token', true],
    ['https://unknown.corp/mcp', 'https://10.0.0.6/token', false],
    ['https://unknown.corp/mcp', 'https://unknown.corp/token', true],
  ])('at %s may lead to %s: %s.', async (server, to, may) => {
    expect(await leads(server, to)).toBe(may);
  });
});

describe('on this machine and on private networks', () => {
  const server = new URL('http://127.0.0.1:3000/mcp');
  const [issuer, neighbor] = ['http://127.0.0.1:8080', 'http://127.0.0.1:9090'];

  it.each([
    ['http://127.0.0.1:3000/any/path', true],
    [`${neighbor}/.well-known/oauth-protected-resource`, true],
    [`${neighbor}/latest/meta-data`, false],
    ['https://login.example/any/path', true],
  ])('metadata is read at %s: %s.', (address, may) => {
    const read = () => requireWellKnown(new URL(address), server);
    if (may) expect(read).not.toThrow();
    else expect(read).toThrow(/must not choose/);
  });

  it.each([
    [`${issuer}/token`, true],
    ['http://127.0.0.1:3000/token', true],
    [`${neighbor}/admin/create-user`, false],
    ['https://login.example/token', true],
  ])('an issuer may name the endpoint %s: %s.', (address, may) => {
    const name = () => requireOwnEndpoint(new URL(address), new URL(issuer), server);
    if (may) expect(name).not.toThrow();
    else expect(name).toThrow(/must not choose/);
  });
});
