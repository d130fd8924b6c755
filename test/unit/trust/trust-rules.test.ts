import { describe, expect, it } from 'vitest';
import { entryHash } from '../../../src/config/entry/spelling.js';
import type { ServerSpec, Scope } from '../../../src/config/entry/server-spec.js';
import { needsTrust, toTrustRequest } from '../../../src/trust/trust-rules.js';
import type { TrustPolicy } from '../../../src/trust/trust-request.js';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';

const RANDOM = 'zX9q-41Kd82jsLq0Pw';
const STDIO = { type: 'stdio', command: 'lamp', args: ['--key=${KEY}'] } as const;
const PLAIN_REMOTE = { url: 'https://example.com/mcp' };
const VARIABLE_REMOTE = { url: 'https://example.com/mcp', headers: { A: '${TOKEN:-x}' } };
const WORKSPACE_REMOTE = { ...PLAIN_REMOTE, env: { W: '${workspaceFolder}' }, headers: { A: '${W}' } };
const HELPED_REMOTE = { ...PLAIN_REMOTE, headersHelper: './token.sh' };
const IN_PROCESS = { type: 'in-process', server: { connect: () => Promise.resolve() } } as const;

function spec(config: ServerConfig, over: Partial<ServerSpec> = {}): ServerSpec {
  return {
    name: 'lamp',
    source: '.mcp.json',
    scope: 'project',
    baseDir: '/srv/project',
    shadows: [],
    config,
    hash: entryHash(config),
    ...over,
  };
}

describe('an entry needs trust', () => {
  const ask: TrustPolicy = () => true;

  it.each<[story: string, config: ServerConfig, policy: TrustPolicy | undefined, needed: boolean]>([
    ['a program, no policy', STDIO, undefined, true],
    ['a program, a function to ask', STDIO, ask, true],
    ['a program, only remote ones trusted', STDIO, 'remote-only', true],
    ['a program, all trusted', STDIO, 'all', false],
    ['an address, no policy', PLAIN_REMOTE, undefined, true],
    ['an address, a function to ask', PLAIN_REMOTE, ask, true],
    ['an address, contents trusted', PLAIN_REMOTE, 'contents', true],
    ['an address, remote ones trusted', PLAIN_REMOTE, 'remote-only', false],
    ['an address, only programs ask', PLAIN_REMOTE, 'programs-only', false],
    ['a program, only programs ask', STDIO, 'programs-only', true],
    ['an address that needs a variable, only programs ask', VARIABLE_REMOTE, 'programs-only', true],
    ['a socket, only programs ask', { url: 'unix:///run/a.sock' }, 'programs-only', true],
    ['an address that needs a variable, no policy', VARIABLE_REMOTE, undefined, true],
    ['an address that needs a variable, a function to ask', VARIABLE_REMOTE, ask, true],
    ['an address that needs a variable, remote ones trusted', VARIABLE_REMOTE, 'remote-only', false],
    ['an address that needs a variable, all trusted', VARIABLE_REMOTE, 'all', false],
    ['an address that reveals the home folder', { url: 'https://example.com/${userHome}' }, undefined, true],
    [
      'an address that reveals the workspace',
      { url: 'https://${workspaceFolderBasename}.example.com/' },
      ask,
      true,
    ],
    ['a header that reveals the workspace', WORKSPACE_REMOTE, undefined, true],
    ['a header that reveals the workspace, remote ones trusted', WORKSPACE_REMOTE, 'remote-only', false],
    [
      'an address that reveals only the platform',
      { url: 'https://example.com${/}mcp' },
      'programs-only',
      false,
    ],
    ['an object of this process', IN_PROCESS, undefined, false],
    ['a socket', { url: 'unix:///run/docker.sock#/containers' }, undefined, true],
    ['a socket, remote ones trusted', { url: 'unix:///run/docker.sock' }, 'remote-only', true],
    ['a pipe, remote ones trusted', { url: 'pipe:///pipe/a' }, 'remote-only', true],
    [
      'a socket in its own variable, remote ones trusted',
      { url: '${A}:///run/docker.sock', env: { A: 'unix' } },
      'remote-only',
      true,
    ],
    ['a socket as a default, remote ones trusted', { url: '${A:-unix:///run/a.sock}' }, 'remote-only', true],
    ['an address of the user, remote ones trusted', { url: '${A}/mcp' }, 'remote-only', false],
    [
      'an address as a default, remote ones trusted',
      { url: '${A:-https://a.example}/mcp' },
      'remote-only',
      false,
    ],
    ['an object of this process', IN_PROCESS, undefined, false],
    ['an address with a program for its headers', HELPED_REMOTE, undefined, true],
    ['an address with a program for its headers, remote ones trusted', HELPED_REMOTE, 'remote-only', true],
    ['an address with a program for its headers, all trusted', HELPED_REMOTE, 'all', false],
    ['a client from a variable', { ...PLAIN_REMOTE, oauth: { clientId: '${env:ID}' } }, undefined, true],
    ['a client, only programs ask', { ...PLAIN_REMOTE, oauth: { clientId: 'c' } }, 'programs-only', false],
    ['a proxy', { ...PLAIN_REMOTE, proxy: 'http://proxy.example' }, undefined, true],
    ['a proxy, remote ones trusted', { ...PLAIN_REMOTE, proxy: 'http://proxy.example' }, 'remote-only', true],
    ['no proxy, only programs ask', { ...PLAIN_REMOTE, proxy: false }, 'programs-only', false],
    ['an authority, remote ones trusted', { ...PLAIN_REMOTE, ca: 'ca.pem' }, 'remote-only', true],
    ['a certificate, remote ones trusted', { ...PLAIN_REMOTE, cert: 'c.pem' }, 'remote-only', true],
    ['a certificate, all trusted', { ...PLAIN_REMOTE, cert: 'c.pem' }, 'all', false],
  ])('in a project file: %s', (_, config, policy, needed) => {
    expect(needsTrust(spec(config), policy)).toBe(needed);
  });

  it.each<Scope>(['host', 'given', 'user'])('never if its scope is %s', (scope) => {
    for (const config of [STDIO, PLAIN_REMOTE, VARIABLE_REMOTE]) {
      expect(needsTrust(spec(config, { scope }))).toBe(false);
    }
  });
});

describe('the request for trust', () => {
  it('shows the way to a remote server, without credentials', () => {
    const config = {
      ...PLAIN_REMOTE,
      proxy: 'http://ann:secret@proxy.example:3128',
      ca: ['ca.pem'],
      cert: '~/c.pem',
      key: 'k.pem',
    };
    const withKey = { ...PLAIN_REMOTE, key: 'k.pem' };
    expect(toTrustRequest(spec(withKey))).toMatchObject({ certificates: ['k.pem'] });
    expect(toTrustRequest(spec(config))).toMatchObject({
      proxy: 'http://***@proxy.example:3128',
      certificates: ['ca.pem', '~/c.pem', 'k.pem'],
    });
    const socket = { url: 'unix:///run/a.sock#/mcp?key=secret' };
    expect(toTrustRequest(spec(socket)).url).toBe('unix:///run/a.sock#/mcp?key=***');
  });

  it('shows what an argument gets from the own env, unless that may be a secret', () => {
    const env = { PACKAGE: 'evil-lamp', MORE: '--${OTHER}', API_KEY: 'k3y-of-the-lamp' };
    const config = { command: 'npx', args: ['${PACKAGE}', '$MORE', '--key=${API_KEY}', '${HOST}'], env };
    expect(toTrustRequest(spec(config))).toMatchObject({
      args: ['evil-lamp', '--${OTHER}', '--key=${API_KEY}', '${HOST}'],
      env: { API_KEY: null, MORE: '--${OTHER}', PACKAGE: 'evil-lamp' },
      variables: ['HOST', 'OTHER'],
    });
  });

  it.each<[story: string, config: ServerConfig, shown: Record<string, string>]>([
    [
      'an option',
      { command: 'node', args: ['${AUTH_TOKEN}'], env: { AUTH_TOKEN: '--import=./srv.mjs' } },
      { AUTH_TOKEN: '--import=./srv.mjs' },
    ],
    [
      'a package',
      { command: 'npx', args: ['-y', '$API_KEY'], env: { API_KEY: 'x7k2-9qlz8vw3' } },
      { API_KEY: 'x7k2-9qlz8vw3' },
    ],
    [
      'the value of an option',
      { command: 'node', args: ['--import=${AUTH_TOKEN}'], env: { AUTH_TOKEN: 'evil-loader' } },
      { AUTH_TOKEN: 'evil-loader' },
    ],
    [
      'a script behind an option for a secret',
      { command: 'node', args: ['--token=x', '--key', '${KEY}'], env: { KEY: './srv.mjs' } },
      { KEY: './srv.mjs' },
    ],
    [
      'a script in two steps',
      { command: 'node', args: ['${A}'], env: { B_TOKEN: 'srv-evil', A: '${B_TOKEN}' } },
      { B_TOKEN: 'srv-evil' },
    ],
    [
      'the command',
      { command: '${PASSWORD}', env: { PASSWORD: 'evil-program' } },
      { PASSWORD: 'evil-program' },
    ],
    [
      'the folder',
      { command: 'x', cwd: '${API_KEY}', env: { API_KEY: 'k3y-dir-9' } },
      { API_KEY: 'k3y-dir-9' },
    ],
    [
      'code of a shell',
      { command: 'sh', args: ['-c', 'exec "$RUN_KEY"'], env: { RUN_KEY: 'q3x-evil-9z' } },
      { RUN_KEY: 'q3x-evil-9z' },
    ],
    [
      'code of an interpreter',
      { command: 'node', args: ['-e', 'eval(process.env.MY_TOKEN)'], env: { MY_TOKEN: 'import("./x.mjs")' } },
      { MY_TOKEN: 'import("./x.mjs")' },
    ],
    [
      'code behind another program',
      { command: 'npx', args: ['-c', '$$MY_TOKEN'], env: { MY_TOKEN: 'q3x-evil-9z' } },
      { MY_TOKEN: 'q3x-evil-9z' },
    ],
    [
      'a variable of an interpreter',
      { command: 'node', env: { MY_TOKEN: 'q3x-evil-9z', NODE_OPTIONS: '--import=${MY_TOKEN}' } },
      { MY_TOKEN: 'q3x-evil-9z' },
    ],
    [
      'the program for headers',
      { ...PLAIN_REMOTE, headersHelper: '$API_KEY', env: { API_KEY: 'q3x-evil-9z' } },
      { API_KEY: 'q3x-evil-9z' },
    ],
  ])('shows what a variable of the entry decides, whatever its name: %s', (_, config, shown) => {
    expect(toTrustRequest(spec(config)).env).toMatchObject(shown);
  });

  it('shows an argument that is a variable of the entry with its text.', () => {
    const env = { AUTH_TOKEN: '--import=./srv.mjs' };
    expect(toTrustRequest(spec({ command: 'node', args: ['${AUTH_TOKEN}'], env })).args).toEqual([
      '--import=./srv.mjs',
    ]);
  });

  it.each([
    [['--token=${MY_TOKEN}']],
    [['--token', '${MY_TOKEN}']],
    [['--header', 'Authorization: Bearer ${MY_TOKEN}']],
  ])('shows no secret that is the value of an option for it: %j', (args) => {
    const env = { MY_TOKEN: RANDOM };
    const request = toTrustRequest(spec({ command: 'mcp-remote', args, env }));
    expect(JSON.stringify(request)).not.toContain(RANDOM);
  });

  it('shows the other addresses and the certificates with the variables of the entry.', () => {
    const env = { API_KEY: 'evil.example', KEY_DIR: '/srv/q3x9', PASS: RANDOM };
    const request = toTrustRequest(
      spec({
        ...PLAIN_REMOTE,
        env,
        proxy: 'http://u:${PASS}@${API_KEY}:3128',
        ca: ['${KEY_DIR}/ca.pem'],
        key: '${KEY_DIR}/k.pem',
        oauth: { metadataUrl: 'https://${API_KEY}/x', callbackPort: 4_000 },
      }),
    );
    expect(request).toMatchObject({
      proxy: 'http://***@evil.example:3128',
      certificates: ['/srv/q3x9/ca.pem', '/srv/q3x9/k.pem'],
      signIn: ['https://evil.example/x'],
      callbackPort: 4_000,
    });
    expect(JSON.stringify(request)).not.toContain(RANDOM);
  });

  it.each<[where: string, config: ServerConfig]>([
    ['args', { command: 'node', args: ['${input:tok}'] }],
    ['code', { command: 'sh', args: ['-c', '${input:tok}'] }],
    ['a variable in args', { command: 'node', args: ['$A'], env: { A: '${input:tok}' } }],
    ['NODE_OPTIONS', { command: 'node', env: { NODE_OPTIONS: '${input:tok}' } }],
    ['headersHelper', { ...PLAIN_REMOTE, headersHelper: '${input:tok}' }],
    ['proxy', { ...PLAIN_REMOTE, proxy: 'http://${input:tok}' }],
    ['oauth', { ...PLAIN_REMOTE, oauth: { metadataUrl: 'https://${input:tok}/' } }],
    ['ca', { ...PLAIN_REMOTE, ca: '${input:tok}' }],
  ])('shows the proposed answer for a password that decides: %s', (_, config) => {
    const inputs = new Map([['tok', { id: 'tok', default: 'q3x-evil-9z', password: true }]]);
    expect(toTrustRequest(spec(config, { inputs })).inputs).toEqual({ tok: 'q3x-evil-9z' });
  });

  it.each([
    '${H:-http://127.0.0.1}/mcp',
    'http://${H:-127.0.0.1}:80/mcp',
    'http://${A:-${H:-localhost}}/mcp',
    'unix:///run/a.sock#/mcp',
  ])('tells that an address leads to this computer: %s', (url) => {
    expect(toTrustRequest(spec({ url }))).toHaveProperty('network', 'this-machine');
  });

  it('shows that processes keep running.', () => {
    expect(toTrustRequest(spec({ ...STDIO, keepDaemons: true }))).toHaveProperty('keepDaemons', true);
  });

  it('shows the file with further variables, and the program for headers', () => {
    expect(toTrustRequest(spec({ command: 'x', envFile: '../.env' }))).toHaveProperty('envFile', '../.env');
    expect(toTrustRequest(spec(HELPED_REMOTE))).toHaveProperty('headersHelper', './token.sh');
  });

  it('shows command and arguments as written, and names of variables', () => {
    expect(toTrustRequest(spec(STDIO))).toEqual({
      server: 'lamp',
      source: '.mcp.json',
      folder: '/srv/project',
      transport: 'stdio',
      command: 'lamp',
      args: ['--key=${KEY}'],
      variables: ['KEY'],
      env: {},
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('shows where it would run, and the variables that it sets with their values.', () => {
    const env = { NODE_OPTIONS: '--require ./evil.js', LD_PRELOAD: '${HOME}/evil.so', ROOM: 'hall' };
    const request = toTrustRequest(spec({ ...STDIO, cwd: '../..', env, inheritEnv: true }));
    expect(request).toMatchObject({ cwd: '../..', env, variables: ['*', 'HOME', 'KEY'] });
    expect(Object.keys(request.env)).toEqual(['LD_PRELOAD', 'NODE_OPTIONS', 'ROOM']);
  });

  it.each([
    'NODE_OPTIONS',
    'node_options',
    'PATH',
    'Path',
    'LD_PRELOAD',
    'LD_AUDIT',
    'DYLD_INSERT_LIBRARIES',
    'PYTHONPATH',
    'PYTHONSTARTUP',
    'npm_config_registry',
    'NPM_CONFIG_USERCONFIG',
    'npm_config_script_shell',
    'npm_config_@token:registry',
    'BASH_ENV',
    'ENV',
    'PERL5OPT',
    'RUBYOPT',
    'JAVA_TOOL_OPTIONS',
    'GIT_SSH_COMMAND',
    'UV_INDEX_URL',
    'PIP_EXTRA_INDEX_URL',
    'DENO_DIR',
    'BUN_CONFIG_REGISTRY',
    'HTTPS_PROXY',
    'SSL_CERT_FILE',
    'DOCKER_HOST',
    'HOME',
    'XDG_CONFIG_HOME',
    'DOTNET_STARTUP_HOOKS',
  ])('shows the value of a variable that decides what is run, whatever it looks like: %s', (name) => {
    const env = { [name]: RANDOM };
    expect(toTrustRequest(spec({ ...STDIO, env })).env).toEqual(env);
  });

  it('shows no value that may be a secret, and what the others refer to.', () => {
    const env = {
      API_KEY: 'k3y-of-the-lamp',
      OTHER: RANDOM,
      npm_config__authToken: 'npm_abc',
      FROM_HOST: '${API_KEY}',
      DEFAULT_KEY: '${K:-k3y-of-the-lamp}',
      FILE: '${userHome}/memory.json',
    };
    expect(toTrustRequest(spec({ ...STDIO, env })).env).toEqual({
      API_KEY: null,
      DEFAULT_KEY: null,
      FILE: '${userHome}/memory.json',
      FROM_HOST: '${API_KEY}',
      OTHER: null,
      npm_config__authToken: null,
    });
  });

  it('shows the addresses of a sign-in that the entry names, without credentials.', () => {
    const oauth = {
      clientId: 'c',
      metadataUrl: 'https://u:p-1@a.example/m',
      tokenUrl: 'https://b.example/t',
    };
    const request = toTrustRequest(spec({ ...PLAIN_REMOTE, oauth }));
    expect(request.signIn).toEqual(['https://***@a.example/m', 'https://b.example/t']);
  });

  it.each([
    ['http://127.0.0.1:8080/mcp', 'this-machine'],
    ['http://localhost/mcp', 'this-machine'],
    ['http://a.localhost./mcp', 'this-machine'],
    ['http://2130706433/', 'this-machine'],
    ['http://0x7f.1/', 'this-machine'],
    ['http://0177.0.0.1/', 'this-machine'],
    ['http://0.0.0.0/', 'this-machine'],
    ['http://[::1]/', 'this-machine'],
    ['http://[::ffff:127.0.0.1]/', 'this-machine'],
    ['http://169.254.169.254/latest', 'link-local'],
    ['http://[fe80::1]/', 'link-local'],
    ['http://[::ffff:169.254.169.254]/', 'link-local'],
    ['http://10.1.2.3/', 'private'],
    ['http://172.31.0.1/', 'private'],
    ['http://192.168.1.1/', 'private'],
    ['http://100.64.0.1/', 'private'],
    ['http://[fd00::1]/', 'private'],
    ['http://printer.local/', 'private'],
    ['http://intranet/', 'private'],
    ['http://wiki.corp/', 'private'],
  ])('tells that an address is not on the internet: %s', (url, network) => {
    expect(toTrustRequest(spec({ url }))).toMatchObject({ network });
    const env = { H: url };
    expect(toTrustRequest(spec({ url: '${H}', env }))).toMatchObject({ network });
  });

  it.each([
    'https://example.com/',
    'http://172.32.0.1/',
    'http://8.8.8.8/',
    'https://${H}/',
    'http://[2606::1]/',
  ])('tells nothing about another address: %s', (url) =>
    expect(toTrustRequest(spec({ url }))).not.toHaveProperty('network'),
  );

  it('shows the names of headers, but no values.', () => {
    const headers = { 'X-Key': 'secret-1', Authorization: 'Bearer ${TOKEN}' };
    const request = toTrustRequest(spec({ ...PLAIN_REMOTE, headers }));
    expect(request).toMatchObject({ headers: ['Authorization', 'X-Key'], variables: ['TOKEN'] });
    expect(JSON.stringify(request)).not.toContain('secret-1');
  });

  it('differs if the file has another default for an input of the entry.', () => {
    const config = { command: '${input:tool}', args: ['--pin=${input:pin}'] };
    const proposing = (tool: string, pin: string) =>
      toTrustRequest(
        spec(config, {
          inputs: new Map([
            ['tool', { id: 'tool', default: tool, password: false }],
            ['pin', { id: 'pin', default: pin, password: true }],
            ['other', { id: 'other', default: `${tool}${pin}`, password: false }],
          ]),
        }),
      );
    const request = proposing('lamp', 'secret-2');
    expect(request.inputs).toEqual({ tool: 'lamp', pin: '***' });
    expect(proposing('rm', 'secret-2').hash).not.toBe(request.hash);
    expect(proposing('lamp', 'secret-3').hash).not.toBe(request.hash);
    expect(proposing('lamp', 'secret-2').hash).toBe(request.hash);
  });

  it('shows an address without its secrets', () => {
    const config = { type: 'sse', url: 'https://example.com/mcp?key=sk-1&t=${T}' } as const;
    expect(toTrustRequest(spec(config))).toMatchObject({
      transport: 'sse',
      url: 'https://example.com/mcp?key=***&t=***',
      variables: ['T'],
    });
    expect(toTrustRequest(spec(VARIABLE_REMOTE))).toMatchObject({ transport: 'http' });
  });

  it.each<[where: string, url: string, env: Record<string, string>, shown: string]>([
    ['its own variable', 'https://${H}/mcp', { H: 'evil.example' }, 'https://evil.example/mcp'],
    [
      'variables of variables',
      '${B}/mcp',
      { H: 'evil.example', B: 'https://${H}:8' },
      'https://evil.example:8/mcp',
    ],
    ['a default', 'https://${H:-evil.example}/mcp', {}, 'https://${H:-evil.example}/mcp'],
    [
      'a default of it all',
      '${B:-https://evil.example/${K:-key-1}}',
      {},
      '${B:-https://evil.example/${K:-***}}',
    ],
    [
      'a part of a name',
      'https://good.example${H}/',
      { H: '.evil.example' },
      'https://good.example.evil.example/',
    ],
    [
      'credentials, which are hidden',
      'https://${U}evil.example/',
      { U: 'good.example@' },
      'https://***@evil.example/',
    ],
    ['the host’s variable', 'https://${H}.example/${K}', { K: 'key-1' }, 'https://${H}.example/${K}'],
    [
      'its own variable behind one that may be empty',
      'https://${H}/${K}',
      { K: 'evil.example' },
      'https://${H}/evil.example',
    ],
    [
      'a variable of its own of which a part is the host’s',
      'https://${H}/',
      { H: '${X}.example' },
      'https://${X}.example/',
    ],
    [
      'what a variable cuts off before an @',
      'https://evil.example${HOME}@good.example/',
      {},
      'https://evil.example${HOME}@good.example/',
    ],
    [
      'what a separator cuts off before an @',
      'https:${pathSeparator}${pathSeparator}evil.example${pathSeparator}@good.example',
      {},
      'https:${pathSeparator}${pathSeparator}evil.example${pathSeparator}@good.example',
    ],
    [
      'a default behind another of the scheme',
      '${S:-https:}//${H:-evil.example}/mcp',
      {},
      '${S:-https:}//${H:-evil.example}/mcp',
    ],
    [
      'a default behind slashes behind nothing',
      'https:${N:-}//${H:-evil.example}/${K:-key-1}',
      {},
      'https:${N:-}//${H:-evil.example}/${K:-key-1}',
    ],
    [
      'a default behind a separator',
      'https:${/}/${H:-evil.example}/mcp',
      {},
      'https:${/}/${H:-evil.example}/mcp',
    ],
    ['a default behind a tab', 'https:\t//${H:-evil.example}/mcp', {}, 'https:\t//${H:-evil.example}/mcp'],
    [
      'a default behind its own variable that is empty',
      'https://${H:-evil.example}/mcp',
      { H: '' },
      'https://${H:-evil.example}/mcp',
    ],
    [
      'a default behind its own variable that may be empty',
      'https://${H:-evil.example}/mcp',
      { H: '${X:-}' },
      'https://${X:-}${H:-evil.example}/mcp',
    ],
    [
      'what follows a default that would end the host',
      'https://good.example${X:-#key-1}.evil.example/?k=key-2',
      {},
      'https://good.example${X:-#***}.evil.example/?k=***',
    ],
    [
      'a password right before its @',
      'https://${U}:key-1@evil.example/',
      {},
      'https://${U}***@evil.example/',
    ],
  ])('shows which server would be reached if that is in %s.', (_, url, env, shown) => {
    expect(toTrustRequest(spec({ url, env })).url).toBe(shown);
  });

  it('limits texts that refer to each other.', () => {
    const doubling = Array.from({ length: 60 }, (_, n) => [`V${n + 1}`, `\${V${n}}\${V${n}}`]);
    const env = { V0: 'x', ...(Object.fromEntries(doubling) as Record<string, string>) };
    const { url } = toTrustRequest(spec({ url: 'https://${V60}/', env }));
    expect(url).toBe('(too many parts to show)');
  });

  it.each([
    ['a long path', `https://x/${'a'.repeat(1_000_000)}`],
    ['many variables in the host', `https://x${'${A}'.repeat(50_000)}/`],
    ['many variables in the path', `https://x/${'${A:-b}'.repeat(50_000)}`],
  ])('is created in time proportional to the length of the address: %s', (_, url) => {
    expect(toTrustRequest(spec({ url })).url).toMatch(/^https:\/\/x/);
  });

  it('masks the rest of the address.', () => {
    const env = { P: 'secret-1', Q: 'secret-2' };
    const url = 'https://example.com/${P}/${K:-secret-3}?q=${Q}#${Q}';
    const request = toTrustRequest(spec({ url, env }));
    expect(request.url).toBe('https://example.com/${P}/${K:-***}?q=***#***');
    expect(JSON.stringify(request)).not.toContain('secret-');
  });

  it('shows a default that decides what runs or is reached, even if it is declared a password.', () => {
    const asked = (text: string) => [text, { id: text, default: `${text}.example`, password: true }] as const;
    const inputs = new Map([asked('a'), asked('b')]);
    const program = { command: '${input:a}', env: { B: '${input:b}' } };
    expect(toTrustRequest(spec(program, { inputs })).inputs).toEqual({ a: 'a.example', b: '***' });
    const remote = { url: 'https://${input:a}:80/${input:b}' };
    expect(toTrustRequest(spec(remote, { inputs })).inputs).toEqual({ a: 'a.example', b: '***' });
    const behindNothing = { url: 'https://${input:a}/${input:b}' };
    expect(toTrustRequest(spec(behindNothing, { inputs })).inputs).toEqual({
      a: 'a.example',
      b: 'b.example',
    });
  });

  it('differs for another entry, folder or name, and is the same for the same', () => {
    const hashes = [
      spec(STDIO),
      spec({ ...STDIO, args: [] }),
      spec({ ...STDIO, env: { LD_PRELOAD: 'a.so' } }),
      spec({ ...STDIO, env: { LD_PRELOAD: 'b.so' } }),
      spec({ ...STDIO, cwd: '/' }),
      spec({ ...STDIO, args: [`${'a'.repeat(100_000)}1`] }),
      spec({ ...STDIO, args: [`${'a'.repeat(100_000)}2`] }),
      spec(STDIO, { baseDir: '/srv/other' }),
      spec(STDIO, { name: 'other' }),
    ].map((each) => toTrustRequest(each).hash);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(toTrustRequest(spec(STDIO)).hash).toBe(hashes[0]);
  });

  it('cannot be made for an in-process server, which needs no trust', () => {
    expect(() => toTrustRequest(spec(IN_PROCESS))).toThrow(TypeError);
  });
});
