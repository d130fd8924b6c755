import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isError } from '../../../../src/config/entry/problem.js';
import { problemLine } from '../../../support/problem-line.js';
import { validateEntry } from '../../../../src/config/entry/validate-entry.js';
import type { ServerConfig } from '../../../../src/config/entry/server-config.js';
import { DEFAULT_POLICY } from '../../../../machines/policy/policy.js';

const validate = (entry: unknown, name = 'lamp') => validateEntry(name, entry, { source: 'kit' });
const configOf = (entry: unknown): ServerConfig | undefined => validate(entry).config;
const problemsOf = (entry: unknown) => validate(entry).problems.map(problemLine);

describe('the normal form of an entry', () => {
  const STDIO = { type: 'stdio', command: 'lamp' };
  const URL_OF = 'https://example.com/mcp';

  it.each<{ story: string; entry: unknown; config: unknown }>([
    { story: 'a command alone is a stdio server', entry: { command: 'lamp' }, config: STDIO },
    { story: 'type stdio means the same', entry: { type: 'stdio', command: 'lamp' }, config: STDIO },
    { story: 'type local means stdio', entry: { type: 'local', command: 'lamp' }, config: STDIO },
    { story: 'a url alone has no type', entry: { url: URL_OF }, config: { url: URL_OF } },
    ...['http', 'streamable-http', 'streamableHttp', 'streamable_http', 'remote'].map((type) => ({
      story: `type ${type} means http`,
      entry: { type, url: URL_OF },
      config: { type: 'http', url: URL_OF },
    })),
    { story: 'type sse stays', entry: { type: 'sse', url: URL_OF }, config: { type: 'sse', url: URL_OF } },
    {
      story: 'transport is an alias of type',
      entry: { transport: 'sse', url: URL_OF },
      config: { type: 'sse', url: URL_OF },
    },
    {
      story: 'transportType is an alias of type',
      entry: { transportType: 'stdio', command: 'lamp' },
      config: STDIO,
    },
    { story: 'httpUrl is an alias of url', entry: { httpUrl: URL_OF }, config: { url: URL_OF } },
    { story: 'serverUrl is an alias of url', entry: { serverUrl: URL_OF }, config: { url: URL_OF } },
    {
      story: 'environment is an alias of env',
      entry: { command: 'lamp', environment: { A: '1' } },
      config: { ...STDIO, env: { A: '1' } },
    },
    {
      story: 'a list as command holds the first arguments',
      entry: { type: 'local', command: ['lamp', '-a'], args: ['-b'] },
      config: { ...STDIO, args: ['-a', '-b'] },
    },
    { story: 'a list of one is a command', entry: { command: ['lamp'] }, config: STDIO },
    {
      story: 'disabled means not enabled',
      entry: { command: 'lamp', disabled: true },
      config: { ...STDIO, enabled: false },
    },
    {
      story: 'enabled: false stays',
      entry: { command: 'lamp', enabled: false },
      config: { ...STDIO, enabled: false },
    },
    {
      story: 'enabled and disabled may agree',
      entry: { command: 'lamp', enabled: false, disabled: true },
      config: { ...STDIO, enabled: false },
    },
    {
      story: 'fields with their default value are left out',
      entry: {
        command: 'lamp',
        args: [],
        env: {},
        inheritEnv: false,
        enabled: true,
        disabled: false,
        start: 'eager',
        policy: {},
      },
      config: STDIO,
    },
    {
      story: 'null means absent',
      entry: { command: 'lamp', args: null, env: null, cwd: null, url: null, headers: null, type: null },
      config: STDIO,
    },
    {
      story: 'undefined means absent',
      entry: { command: 'lamp', args: undefined, cwd: undefined, env: { A: undefined } },
      config: STDIO,
    },
    {
      story: 'fields of other hosts are left out',
      entry: { command: 'lamp', autoApprove: ['x'], alwaysAllow: [], description: 'd', gallery: true },
      config: STDIO,
    },
    {
      story: 'a list of tools is an allow list',
      entry: { command: 'lamp', tools: ['*'] },
      config: { ...STDIO, tools: { allow: ['*'] } },
    },
    {
      story: 'an empty list of tools still allows no tool',
      entry: { command: 'lamp', tools: [] },
      config: { ...STDIO, tools: { allow: [] } },
    },
    {
      story: 'every setting is kept',
      entry: {
        url: URL_OF,
        headers: { 'X-Harbour': 'north' },
        tools: { allow: ['a'], deny: ['b'] },
        start: 'lazy',
        idleStopMs: 0,
        startTimeoutMs: 5_000,
        callTimeoutMs: 0,
        retryCalls: 'never',
        policy: { maxAttempts: 3, ping: { idleMs: 1 }, backoff: [1, 2] },
      },
      config: {
        url: URL_OF,
        headers: { 'X-Harbour': 'north' },
        tools: { allow: ['a'], deny: ['b'] },
        start: 'lazy',
        idleStopMs: 0,
        startTimeoutMs: 5_000,
        callTimeoutMs: 0,
        retryCalls: 'never',
        policy: { maxAttempts: 3, ping: { idleMs: 1 }, backoff: [1, 2] },
      },
    },
    {
      story: 'the whole default policy is a policy',
      entry: { command: 'lamp', policy: DEFAULT_POLICY },
      config: { ...STDIO, policy: DEFAULT_POLICY },
    },
    {
      story: 'a list of inherited variables is kept',
      entry: { command: 'lamp', inheritEnv: ['LANG'], cwd: '..' },
      config: { ...STDIO, inheritEnv: ['LANG'], cwd: '..' },
    },
  ])('$story', ({ entry, config }) => {
    expect(validate(entry)).toEqual({ config, problems: [] });
  });

  it('does not change if the host changes its object later', () => {
    const args = ['-a'];
    const config = configOf({ command: 'lamp', args });
    args.push('-b');
    expect(config).toEqual({ ...STDIO, args: ['-a'] });
  });
});

describe('an entry is refused', () => {
  it.each<[entry: unknown, problem: string]>([
    [7, 'wrong-type'],
    [null, 'wrong-type'],
    [[], 'wrong-type'],
    [{}, 'missing-target'],
    [{ lamp: { command: 'lamp' }, docs: { url: 'https://docs.example' } }, 'missing-target'],
    [{ command: '' }, "field 'command': empty-value"],
    [{ command: [] }, "field 'command': empty-value"],
    [{ command: ['x', 7] }, "field 'command[1]': wrong-type"],
    [{ command: { path: 'x' } }, "field 'command': wrong-type"],
    [{ command: 'a\0b' }, "field 'command': invalid-text"],
    [{ command: 'x', args: ['a\0'] }, "field 'args[0]': invalid-text"],
    [{ command: 'x', args: '-a -b' }, "field 'args': wrong-type"],
    [{ command: 'x', env: [] }, "field 'env': wrong-type"],
    [{ command: 'x', env: { A: [] } }, "field 'env.A': wrong-type"],
    [{ command: 'x', env: { 'A=B': '' } }, "field 'env.A=B': invalid-text"],
    [{ command: 'x', env: { '': 'a' } }, "field 'env.': invalid-text"],
    [{ command: 'x', cwd: 1 }, "field 'cwd': wrong-type"],
    [{ command: 'x', inheritEnv: 'A' }, "field 'inheritEnv': wrong-type"],
    [{ url: 7 }, "field 'url': wrong-type"],
    [{ url: 'example.com/mcp' }, "field 'url': invalid-url"],
    [{ url: 'ftp://example.com/' }, "field 'url': invalid-url"],
    [{ url: 'http://u:p@example.com/' }, "field 'url': credentials-in-url"],
    [{ url: 'http://x/', headers: { 'X Y': 'a' } }, "field 'headers.X Y': invalid-text"],
    [{ url: 'http://x/', headers: { X: 'a\r\nb' } }, "field 'headers.X': invalid-header"],
    [{ url: 'http://x/', headers: { X: '…' } }, "field 'headers.X': invalid-header"],
    [{ command: 'x', url: 'http://x/' }, "field 'url': conflicting-fields"],
    [{ command: 'x', httpUrl: 'http://x/' }, "field 'httpUrl': conflicting-fields"],
    [{ type: 'stdio', url: 'http://x/' }, "field 'type': missing-target"],
    [{ type: 'http', command: 'x' }, "field 'type': missing-target"],
    [{ transport: 'sse' }, "field 'transport': missing-target"],
    [{ type: 'carrier-pigeon', command: 'x' }, "field 'type': unknown-value"],
    [{ type: 7, command: 'x' }, "field 'type': wrong-type"],
    [{ command: 'x', env: {}, environment: {} }, "field 'environment': conflicting-fields"],
    [{ command: 'x', enabled: true, disabled: true }, "field 'disabled': conflicting-fields"],
    [{ command: 'x', enabled: 'no' }, "field 'enabled': wrong-type"],
    [{ command: 'x', tools: 'a' }, "field 'tools': wrong-type"],
    [{ command: 'x', tools: { allow: [1] } }, "field 'tools.allow[0]': wrong-type"],
    [{ command: 'x', start: 'later' }, "field 'start': unknown-value"],
    [{ command: 'x', timeout: -1 }, "field 'timeout': out-of-range"],
    [{ command: 'x', timeout: 1e12 }, "field 'timeout': out-of-range"],
    [{ command: 'x', timeout: Number.NaN }, "field 'timeout': wrong-type"],
    [{ command: 'x', retryCalls: 'often' }, "field 'retryCalls': unknown-value"],
    [{ command: 'x', callTimeoutMs: 'soon' }, "field 'callTimeoutMs': wrong-type"],
    [{ command: 'x', policy: { maxAttempts: 0 } }, "field 'policy.maxAttempts': out-of-range"],
    [{ command: 'x', policy: { maxAttempts: 1.5 } }, "field 'policy.maxAttempts': wrong-type"],
    [{ command: 'x', policy: { ping: 5 } }, "field 'policy.ping': wrong-type"],
    [{ command: 'x', policy: { backoff: { kind: 'fixed' } } }, "field 'policy.backoff': missing-field"],
    [{ command: 'x', policy: { backoff: { kind: 'wobbly' } } }, "field 'policy.backoff': wrong-type"],
    [
      { command: 'x', policy: { backoff: { kind: { toString: null } } } },
      "field 'policy.backoff': wrong-type",
    ],
    [{ type: 'in-process' }, "field 'server': needs-server-object"],
    [{ type: 'in-process', server: { connect: 'x' } }, "field 'server': needs-server-object"],
  ])('%j', (entry, problem) => {
    expect(problemsOf(entry)).toEqual([expect.stringMatching(/^kit: server 'lamp'[,:]/)]);
    expect(problemsOf(entry)[0]).toBe(
      `kit: server 'lamp'${problem.startsWith('field') ? ', ' : ': '}${problem}`,
    );
    expect(configOf(entry)).toBeUndefined();
  });

  it('with all its problems at once', () => {
    const problems = problemsOf({ command: 7, args: 'x', env: { A: {} } });
    expect(problems).toHaveLength(3);
  });

  it('only after expansion if an address or a header contains a variable', () => {
    expect(validate({ url: '${BASE}', headers: { X: '${Y}…' } }).problems).toEqual([]);
  });
});

describe('the name of a server', () => {
  it.each(['a', 'with blanks and / signs', 'ünï-códe 灯', '👩‍💻', 'x'.repeat(128)])('may be %j', (name) => {
    expect(validate({ command: 'x' }, name).problems).toEqual([]);
  });

  it.each([
    '',
    'x'.repeat(129),
    'a\nb',
    '\u001b[31m',
    'a\u202Eb',
    'a\u2028b',
    '\ud800',
    'a\u200b',
    'a\ufeffb',
    'a ',
    '\u00a0',
    '__proto__',
  ])('may not be %j', (name) => {
    const { config, problems } = validate({ command: 'x' }, name);
    expect(config).toBeUndefined();
    expect(problems).toMatchObject([{ code: 'invalid-name' }]);
  });

  it('is shown without control characters', () => {
    const [problem] = validate({ command: 'x' }, 'a\u001b[2Jb').problems;
    expect(problem?.server).toBe('a\\u{1b}[2Jb');
  });
});

describe('the headers that a gateway passes on', () => {
  const URL_OF = 'https://example.com/mcp';

  it('are any that are about the call', () => {
    const forwardHeaders = ['X-Request-Id', 'traceparent', 'X-Forwarded-For', 'Cookie-Consent', 'Accepted'];
    expect(validate({ url: URL_OF, forwardHeaders })).toEqual({
      config: { url: URL_OF, forwardHeaders },
      problems: [],
    });
  });

  it.each([
    'Authorization',
    'proxy-authorization',
    'COOKIE',
    'Set-Cookie',
    'Host',
    'Connection',
    'Proxy-Connection',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Expect',
    'Content-Type',
    'content-length',
    'Accept',
    'Accept-Language',
    'Mcp-Session-Id',
    'MCP-Protocol-Version',
    'Last-Event-ID',
  ])('are not those of the connection, the credentials or the message: %s', (name) => {
    const { config, problems } = validate({ url: URL_OF, forwardHeaders: ['X-Request-Id', name] });
    expect(config).toBeUndefined();
    expect(problems).toMatchObject([{ code: 'header-not-forwardable', field: 'forwardHeaders[1]' }]);
  });

  it.each([['a b'], [''], ['a:b'], [7], [null]])('have the name of a header, unlike %j', (name) => {
    const { config, problems } = validate({ url: URL_OF, forwardHeaders: [name] });
    expect(config).toBeUndefined();
    expect(problems).toMatchObject([{ field: 'forwardHeaders[0]' }]);
  });

  it('exist only for a server that is reached over HTTP', () => {
    const { config, problems } = validate({ command: 'lamp', forwardHeaders: ['X-Request-Id'] });
    expect(config).toBeUndefined();
    expect(problems).toMatchObject([{ field: 'forwardHeaders' }]);
  });
});

describe('a warning leaves the entry in use', () => {
  it.each<[entry: object, warning: string, meant?: string]>([
    [{ arg: ['a'] }, "field 'arg': unknown-field", "'args'"],
    [{ agrs: ['a'] }, "field 'agrs': unknown-field", "'args'"],
    [{ cmd: 'x' }, "field 'cmd': unknown-field", "'command'"],
    [{ Command: 'x' }, "field 'Command': unknown-field", "'command'"],
    [{ enviroment: {} }, "field 'enviroment': unknown-field", "'env'"],
    [{ envs: {} }, "field 'envs': unknown-field", "'env'"],
    [{ header: {} }, "field 'header': unknown-field", "'headers'"],
    [{ workingDirectory: '.' }, "field 'workingDirectory': unknown-field", "'cwd'"],
    [{ call_timeout_ms: 1 }, "field 'call_timeout_ms': unknown-field", "'callTimeoutMs'"],
    [{ policy: { maxAttempt: 1 } }, "field 'policy.maxAttempt': unknown-field", "'maxAttempts'"],
    [{ policy: { luck: 1 } }, "field 'policy.luck': unknown-field"],
    [{ tools: { block: [] } }, "field 'tools.block': unknown-field"],
    [{ headers: { A: 'b' } }, "field 'headers': inapplicable-field"],
    [{ type: 'stdio', url: 'http://x/' }, "field 'url': inapplicable-field"],
    [{ env: { PORT: 80 } }, "field 'env.PORT': converted-value"],
    [{ env: { A: true } }, "field 'env.A': converted-value"],
    [{ env: { A: null } }, "field 'env.A': converted-value"],
    [{ args: ['--port', 80] }, "field 'args[1]': converted-value"],
    [{ disabled: 'false' }, "field 'disabled': converted-value"],
    [{ callTimeoutMs: '60' }, "field 'callTimeoutMs': converted-value"],
    [{ policy: { maxAttempts: '3' } }, "field 'policy.maxAttempts': converted-value"],
    [{ env: { A: '/opt/bin:$PATH' } }, "field 'env.A': unexpanded-variable"],
    [{ args: ['--key=${file:/run/key}'] }, "field 'args[0]': unexpanded-variable"],
    [{ sandbox: {} }, "field 'sandbox': unknown-field"],
    [{ weather: 'fair' }, "field 'weather': unknown-field"],
  ])('%j', (fields, warning, meant = '') => {
    const { config, problems } = validate({ command: 'lamp', ...fields });
    expect(config).toMatchObject({ type: 'stdio', command: 'lamp' });
    expect(problems.map(problemLine)).toEqual([`kit: server 'lamp', ${warning}`]);
    expect(problems[0]?.message).toContain(meant);
    expect(problems.some(isError)).toBe(false);
  });

  it('and names all unknown fields in one warning', () => {
    const { problems } = validate({ command: 'lamp', weather: 1, tide: 2, agrs: [], autoApprove: [] });
    expect(problems.map(problemLine)).toEqual(["kit: server 'lamp': unknown-field"]);
    expect(problems[0]?.message).toMatch(/'weather', 'tide', 'agrs'.*'args'/);
  });

  it.each(['constructor', 'toString', 'hasOwnProperty'])('for %s like for any unknown field', (field) => {
    expect(problemsOf({ command: 'lamp', [field]: 1 })).toEqual([
      `kit: server 'lamp', field '${field}': unknown-field`,
    ]);
  });

  it('for fields that only a stdio server has', () => {
    const { config, problems } = validate({
      type: 'sse',
      url: 'http://x/',
      command: 'lamp',
      args: ['a'],
      env: {},
    });
    expect(config).toEqual({ type: 'sse', url: 'http://x/' });
    expect(problems).toMatchObject([
      { severity: 'warning', field: 'command' },
      { severity: 'warning', field: 'args' },
    ]);
  });

  it.each([
    'autoApprove',
    'alwaysAllow',
    'description',
    'gallery',
    'trust',
    'roots',
    'tags',
    'icon',
    'name',
    'id',
  ])('but not for %s, which is not similar to any field', (field) => {
    expect(validate({ command: 'lamp', [field]: 'x' }).problems).toEqual([]);
  });
});

describe('a value whose meaning is clear', () => {
  it('is used', () => {
    const entry = {
      command: 'lamp',
      args: ['--port', 8_080, true],
      env: { PORT: 8_080, DEBUG: false, GONE: null },
      disabled: 'True',
      startTimeoutMs: '30',
    };
    expect(configOf(entry)).toEqual({
      type: 'stdio',
      command: 'lamp',
      args: ['--port', '8080', 'true'],
      env: { PORT: '8080', DEBUG: 'false' },
      enabled: false,
      startTimeoutMs: 30,
    });
    expect(configOf({ url: 'http://x/', headers: { 'X-Level': 3 } })).toHaveProperty('headers', {
      'X-Level': '3',
    });
  });

  it('never appears in the problem', () => {
    const { problems } = validate({ command: 'lamp', env: { A: 4_711 }, timeout: '4712' });
    expect(problems).toHaveLength(2);
    expect(JSON.stringify(problems)).not.toMatch(/471[12]/);
  });
});

describe('a timeout without a unit', () => {
  it.each([
    [90, 90_000, 1],
    [0.5, 500, 1],
    ['90', 90_000, 2],
    [999, 999_000, 1],
    [1_000, 1_000, 0],
    [30_001, 30_001, 0],
    [0, 0, 0],
  ])('of %j limits start and calls to %i ms', (timeout, ms, warnings) => {
    const { config, problems } = validate({ command: 'lamp', timeout });
    expect(config).toMatchObject({ startTimeoutMs: ms });
    expect(config).toHaveProperty('callTimeoutMs', ms);
    expect(problems).toHaveLength(warnings);
    expect(problems.some(isError)).toBe(false);
  });

  it('leaves a limit of its own to calls', () => {
    const config = configOf({ command: 'lamp', timeout: 5_000, callTimeoutMs: 7_000 });
    expect(config).toMatchObject({ startTimeoutMs: 5_000, callTimeoutMs: 7_000 });
  });
});

describe('the client for a sign-in', () => {
  const url = 'https://ferry.example/mcp';

  it.each<[story: string, fields: object, oauth: unknown]>([
    [
      'Claude Code',
      {
        oauth: {
          clientId: 'c',
          callbackPort: 8_080,
          authServerMetadataUrl: 'https://a.example/m',
          scopes: 'a b',
        },
      },
      { clientId: 'c', callbackPort: 8_080, metadataUrl: 'https://a.example/m', scope: 'a b' },
    ],
    [
      'Cursor',
      { auth: { CLIENT_ID: '${env:ID}', CLIENT_SECRET: '${env:SECRET}', scopes: ['a', 'b'] } },
      { clientId: '${env:ID}', clientSecret: '${env:SECRET}', scope: 'a b' },
    ],
    ['VS Code', { oauth: { clientId: 'c' } }, { clientId: 'c' }],
    [
      'Gemini CLI',
      {
        oauth: {
          enabled: true,
          clientId: 'c',
          clientSecret: 's',
          authorizationUrl: 'https://a.example/authorize',
          tokenUrl: 'https://a.example/token',
          scopes: ['a'],
          redirectUri: 'http://localhost:7777/oauth/callback',
        },
      },
      {
        clientId: 'c',
        clientSecret: 's',
        authorizationUrl: 'https://a.example/authorize',
        tokenUrl: 'https://a.example/token',
        scope: 'a',
        redirectUrl: 'http://localhost:7777/oauth/callback',
      },
    ],
    [
      'opencode',
      { oauth: { clientId: 'c', scope: 'a', redirectUri: 'http://127.0.0.1:1/x' } },
      { clientId: 'c', scope: 'a', redirectUrl: 'http://127.0.0.1:1/x' },
    ],
    [
      'the second opencode, and Codex',
      { oauth: { client_id: 'c', client_secret: 's' } },
      { clientId: 'c', clientSecret: 's' },
    ],
    [
      'Kiro, without the scheme and the path',
      { oauth: { redirectUri: '127.0.0.1:7778' } },
      { redirectUrl: 'http://127.0.0.1:7778/oauth/callback' },
    ],
    [
      'Kiro, with a path',
      { oauth: { redirectUri: 'localhost:1/a' } },
      { redirectUrl: 'http://localhost:1/a' },
    ],
    [
      'Kiro, with the port alone',
      { oauth: { redirectUri: ':7778' } },
      { redirectUrl: 'http://127.0.0.1:7778/oauth/callback' },
    ],
    [
      'a host with other capitals',
      {
        oauth: {
          Client_ID: 'c',
          REDIRECT_URI: 'http://localhost:1/x',
          'token-endpoint': 't',
          authorization_endpoint: 'a',
        },
      },
      { clientId: 'c', redirectUrl: 'http://localhost:1/x', tokenUrl: 't', authorizationUrl: 'a' },
    ],
    ['Troupe, with the name of an account', { oauth: { account: 'work' } }, { account: 'work' }],
    ['a host that turns it off', { oauth: { enabled: false, clientId: 'c' } }, false],
    ['opencode, which turns it off', { oauth: false }, false],
    ['a host that turns it on', { oauth: { enabled: true } }, undefined],
    ['a host with one word for it', { auth: 'oauth' }, undefined],
  ])('is read as %s writes it', (_, fields, oauth) => {
    const { config, problems } = validate({ url, ...fields });
    expect(problems).toEqual([]);
    expect(config).toEqual({ url, ...(oauth !== undefined && { oauth }) });
  });

  it('takes a port as text', () => {
    expect(configOf({ url, oauth: { callbackPort: '8080' } })).toHaveProperty('oauth.callbackPort', 8_080);
  });

  it.each(['', 'two\nlines', ['a'], {}])('has an account with a name on one line, unlike %j', (account) => {
    const { config, problems } = validate({ url, oauth: { account } });
    expect(config).toBeUndefined();
    expect(problems).toMatchObject([{ field: 'oauth.account' }]);
  });

  it.each<[fields: object, field: string]>([
    [{ oauth: { clientId: 'c', audiences: ['x'] } }, 'oauth'],
    [{ oauth: { tokenUrl: 'https://a.example/token' } }, 'oauth'],
    [{ auth: 'bearer' }, 'auth'],
  ])('reports what it does not use: %j', (fields, field) => {
    const { config, problems } = validate({ url, ...fields });
    expect(config).toBeDefined();
    expect(problems).toMatchObject([{ severity: 'warning', field }]);
  });

  it('is ignored for a program, with a warning', () => {
    const { config, problems } = validate({ command: 'lamp', oauth: { clientId: 'c' } });
    expect(config).toEqual({ type: 'stdio', command: 'lamp' });
    expect(problems).toMatchObject([{ severity: 'warning', field: 'oauth' }]);
  });
});

describe('a server of this process', () => {
  const server = { connect: () => Promise.resolve() };

  it('is recognized by its shape and keeps its identity', () => {
    const { config, problems } = validate({
      type: 'in-process',
      server,
      startTimeoutMs: 5_000,
      disabled: true,
    });
    expect(config).toEqual({ type: 'in-process', server, startTimeoutMs: 5_000, enabled: false });
    expect(config).toHaveProperty('server', server);
    expect(problems).toEqual([]);
  });

  it('may be an object of any class, and needs no type', () => {
    class Lamp {
      connect(): Promise<void> {
        return Promise.resolve();
      }
    }
    expect(configOf({ server: new Lamp() })).toMatchObject({ type: 'in-process' });
  });

  it('has its settings checked', () => {
    expect(problemsOf({ type: 'in-process', server, startTimeoutMs: 'soon' })).toEqual([
      "kit: server 'lamp', field 'startTimeoutMs': wrong-type",
    ]);
  });
});

describe('for any value', () => {
  it('the result is either a usable entry or an error', () => {
    fc.assert(
      fc.property(fc.anything(), fc.string(), (value, name) => {
        const { config, problems } = validate(value, name);
        expect(config === undefined).toBe(problems.some(isError));
      }),
    );
  });

  it('validating a normal form again changes nothing', () => {
    const entry = fc.record(
      {
        command: fc.oneof(fc.constant('x'), fc.array(fc.constant('y'), { minLength: 1 })),
        args: fc.array(fc.constantFrom('a', '${B:-c}')),
        environment: fc.dictionary(fc.constantFrom('A', 'B'), fc.constant('v')),
        disabled: fc.boolean(),
        tools: fc.array(fc.constant('*')),
        start: fc.constantFrom('eager', 'lazy'),
        startTimeoutMs: fc.nat(),
      },
      { requiredKeys: ['command'] },
    );
    fc.assert(
      fc.property(entry, (value) => {
        const once = configOf(value);
        expect(once).toBeDefined();
        expect(configOf(once)).toEqual(once);
      }),
    );
  });
});
