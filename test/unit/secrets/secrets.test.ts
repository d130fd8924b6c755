import { describe, expect, it } from 'vitest';
import { createMask, maskFailure, maskJson, NO_MASK, secretsOf } from '../../../src/secrets/secrets.js';

describe('the secrets of an entry', () => {
  it('include values of its variables and references that are secret by name or form', () => {
    const written = {
      command: 'lamp',
      args: ['--api-key', '${API_KEY}', '${HOME}/x', '${PLACE}', '--token=${MORE}', '-H', 'X-Key: ${THIRD}'],
      env: { TOKEN: 'abc-token', MODE: 'on', SIGNED: 'x7Kq-29fjJ3kd9sQ', USED: '${API_KEY}' },
    };
    const values = {
      API_KEY: 'key-1234',
      HOME: '/home/ada',
      PLACE: 'harbor',
      MORE: 'another',
      THIRD: 'the third',
    };
    const expanded = { ...written, args: ['--api-key', 'key-1234', '/home/ada/x', 'harbor'] };
    expect(secretsOf(written, expanded, values).toSorted()).toEqual([
      'abc-token',
      'another',
      'key-1234',
      'the third',
      'x7Kq-29fjJ3kd9sQ',
    ]);
  });

  it('include literal arguments after an option or a header with the name of a secret, and passwords of addresses', () => {
    const config = {
      command: 'lamp',
      args: [
        '--token',
        'first-one',
        '--key=second',
        '--header',
        'Authorization: Bearer third',
        '--depth',
        'fourth',
        'postgres://ada:the-fifth@db/lamps',
        '--token-file',
        'sixth',
        '--api-key',
        '--verbose',
      ],
    };
    expect(secretsOf(config, config).toSorted()).toEqual([
      'Bearer third',
      'first-one',
      'second',
      'the-fifth',
      'third',
    ]);
  });

  const ofArguments = (
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): readonly string[] => {
    const config = { command: 'lamp', args, env };
    return secretsOf(config, config).toSorted();
  };

  it.each([
    [['-token', 'needle-1'], ['needle-1']],
    [['-H', 'X-Api-Key: needle-1'], ['needle-1']],
    [['-e', 'GITHUB_TOKEN=needle-1', '-e', 'LOG_LEVEL=debug'], ['needle-1']],
    [['--config', '{"apiKey":"needle-1","size":"big"}'], ['needle-1']],
    [['-c', 'exec lamp --api-key needle-1 --depth 3'], ['needle-1']],
    [['sk-live-literal-0123456789'], ['sk-live-literal-0123456789']],
    [['-c', 'lamp ghp_16C7e42F292c6912E7710c838347Ae178B4a'], ['ghp_16C7e42F292c6912E7710c838347Ae178B4a']],
    [['kj3h5k2jh34kjh23'], ['kj3h5k2jh34kjh23']],
    [['postgresql://app:dbPassw0rd!@db.internal/prod'], ['dbPassw0rd!']],
    [['--url=postgresql://app:ordinary-words@db/prod'], ['ordinary-words']],
    [['redis://:needle-1@cache:6379'], ['needle-1']],
    [['mongodb://u:needle-1@a:27017,b:27017/db'], ['needle-1']],
    [['app:needle-1@tcp(db:3306)/prod'], ['needle-1']],
    [['Server=db;User Id=app;Password=needle-1;'], ['needle-1']],
    [['host=db user=app password=needle-1'], ['needle-1']],
    [['jdbc:postgresql://db/prod?user=app&password=needle-1'], ['needle-1']],
    [
      ['mcp-remote', 'https://mcp.example/s/ZTQ0SECRETPATHTOKEN/mcp?token=needle-1'],
      ['ZTQ0SECRETPATHTOKEN', 'needle-1'],
    ],
  ])('are found in the arguments %j', (args, found) => {
    expect(ofArguments(args)).toEqual(found);
  });

  it('are found inside the values of env', () => {
    expect(ofArguments([], { A_URL: 'https://u:ordinary-words@x/' })).toEqual(['ordinary-words']);
    expect(ofArguments([], { HEADERS: '{"Authorization":"Bearer some-token"}' })).toContain('some-token');
    expect(ofArguments([], { NOTIFY_URL: 'https://h.example/x/ZTQ0SECRETPATHTOKEN' })).toContain(
      'ZTQ0SECRETPATHTOKEN',
    );
  });

  it.each([
    ['--port', '5432', '--host', 'db.internal', '--log-level', 'debug', '--verbose', 'true'],
    ['-y', '@modelcontextprotocol/server-memory@2026.8.31', 'npm-check-updates-2'],
    ['/home/ada/.config/lamp/index.js', 'node_modules/@scope/lamp/dist/MyVeryLongServerNameWithMore2.js'],
    ['run', '-i', '--rm', '--user', '1000:1000', 'mcp/postgres:latest'],
    ['postgres://postgres:postgres@localhost:5432/postgres'],
    ['--password', 'true', '--token', 'none', '--auth', 'basic', '--key-file', './keys/client.pem'],
    ['550e8400-e29b-41d4-a716-446655440000', 'claude-3-5-sonnet-20241022', 'eu-west-1'],
    ['https://mcp.example.com/v2/search?depth=3', '--header', 'Accept: application/json'],
    ['-c', 'echo "no token" >&2; exit 1'],
  ])('are not the ordinary words of arguments: %s %s', (...args) => {
    expect(ofArguments(args)).toEqual([]);
  });

  it('include inherited variables with such names', () => {
    const values = { LAMP_TOKEN: 'lamp-token', LANG: 'de_DE', OTHER: 'words' };
    for (const inheritEnv of [true, ['LAMP_TOKEN', 'OTHER']])
      expect(secretsOf({ command: 'lamp', inheritEnv }, { command: 'lamp', inheritEnv }, values)).toEqual([
        'lamp-token',
      ]);
  });

  it('include all values that were typed without echo', () => {
    const config = { command: 'lamp', args: ['${input:place}', '${input:mode}'] };
    const values = { 'input:place': 'harbor', 'input:mode': 'bright' };
    expect(secretsOf(config, config, values, new Set(['input:place']))).toEqual(['harbor']);
  });

  it('include its header values, with and without their scheme, and the credentials and query of its address', () => {
    const config = {
      url: 'https://ada-x:pass-word@example.com/mcp/T02/kj3h5k2jh34k?key=query-value&mode=read',
      headers: { Authorization: 'Bearer header-token', Accept: 'application/json', 'X-Region': 'eu-west-1' },
    };
    expect(secretsOf(config, config).toSorted()).toEqual([
      'Bearer header-token',
      'ada-x',
      'header-token',
      'kj3h5k2jh34k',
      'pass-word',
      'query-value',
    ]);
  });

  it('exclude the host and the port of its address, which variables may contain', () => {
    const written = { url: 'http://${HOST}:${PORT}/k/${KEY}/mcp' };
    const config = { url: 'http://lamps.example:48123/k/key-1234/mcp' };
    const env = { PORT: '48123', HOST: 'lamps.example', KEY: 'key-1234' };
    expect(secretsOf(written, config, env)).toEqual(['key-1234']);
  });

  it('are also masked line by line if they have several lines', () => {
    const key = '-----BEGIN\nfirst line of it\r\nthe second one\n-----END';
    const config = { command: 'lamp', env: { KEY: key } };
    const mask = createMask(secretsOf(config, config));
    expect(mask('it says: the second one!')).toBe('it says: ***!');
    expect(mask(`all of it: ${key}`)).toBe('all of it: ***');
  });
});

describe('the mask', () => {
  const mask = createMask(['tok"en/1', 'tok"en/1-longer']);

  it.each([
    ['as it is', 'it was tok"en/1.', 'it was ***.'],
    ['inside a longer secret', 'tok"en/1-longer', '***'],
    ['as JSON spells it', JSON.stringify({ a: 'tok"en/1' }), '{"a":"***"}'],
    ['as an address spells it', `?t=${encodeURIComponent('tok"en/1')}`, '?t=***'],
    ['more than once', 'tok"en/1 tok"en/1', '*** ***'],
    ['not at all', 'nothing here', 'nothing here'],
  ])('masks a secret %s', (_, given, shown) => {
    expect(mask(given)).toBe(shown);
  });

  it.each(['', 'u', 'me', 'ada', 'harbor'])(
    'masks a secret inside base64, of either alphabet, after "%s:"',
    (user) => {
      const secret = 'key~with?more>than-eight';
      const pair = Buffer.from(`${user}:${secret} `);
      for (const alphabet of ['base64', 'base64url'] as const) {
        const shown = createMask([secret])(`Authorization: Basic ${pair.toString(alphabet)} was sent`);
        expect(shown).toMatch(/^Authorization: Basic [\w+/-]*\*\*\*[\w+/=-]* was sent$/);
        const rest = Buffer.from(shown.split(' ')[2]?.replace('***', '') ?? '', 'base64').toString('latin1');
        expect(rest).not.toMatch(/key|with|more|than|eigh/);
      }
    },
  );

  it('masks a secret of any length, inside base64 too', () => {
    const secret = 'https://example.com/?key=value ~more> '.repeat(3_000);
    const mask = createMask([secret]);
    for (const alphabet of ['base64', 'base64url'] as const) {
      const shown = mask(`It said ${Buffer.from(secret).toString(alphabet)}.`);
      expect(shown).toMatch(/^It said \*\*\*[\w=]{0,3}\.$/);
    }
  });

  it('reaches every string in JSON and leaves names, numbers and null unchanged', () => {
    const given = { list: ['tok"en/1', 1, null], deep: { text: 'tok"en/1' } };
    expect(maskJson(given, mask)).toEqual({ list: ['***', 1, null], deep: { text: '***' } });
  });

  it('leaves code, phase and numbers of a failure unchanged, whatever the secrets are', () => {
    const failure = {
      code: 'http-status',
      phase: 'session',
      at: 1,
      message: 'in this session',
      hint: 'session',
      stderrTail: ['session over'],
      http: { status: 500, bodyStart: 'no session' },
    } as const;
    expect(maskFailure(failure, createMask(['session', 'http-status']))).toEqual({
      ...failure,
      message: 'in this ***',
      hint: '***',
      stderrTail: ['*** over'],
      http: { status: 500, bodyStart: 'no ***' },
    });
  });

  it('changes nothing if there is no secret', () => {
    const given = { a: 1 };
    expect(createMask([])).toBe(NO_MASK);
    expect(maskJson(given, NO_MASK)).toEqual(given);
  });

  it('leaves out values that are nested too deeply, with or without secrets', () => {
    let given: unknown = 'tok"en/1';
    for (let level = 0; level < 100_000; level += 1) given = [given];
    for (const one of [mask, NO_MASK]) {
      expect(JSON.stringify(maskJson(given, one))).toBe(
        `${'['.repeat(100)}"[nested too deeply]"${']'.repeat(100)}`,
      );
    }
  });
});

describe('a secret that was cut off', () => {
  const long = 'q7'.repeat(10) + 'Zx9'.repeat(40);
  const repeating = 'пароль!0a00aaaa000aпароль!';

  it.each([
    ['a long one, after its first characters', long, 20],
    ['a long one, far from its beginning', long, 110],
    ['one whose end repeats its beginning', repeating, 24],
    ['the same in an address', encodeURIComponent(repeating), 75],
  ])('is masked up to the cut: %s.', (_, secret, length) => {
    const mask = createMask([repeating, encodeURIComponent(repeating), long]);
    const text = `${'The tool of the server is called '.repeat(4)}${secret.slice(0, length)}… and more`;
    const shown = mask(text);
    expect(shown).toContain('***…');
    expect(shown).not.toContain('0a00aaaa000a');
    expect(shown).not.toContain('q7q7');
    expect(shown.endsWith('and more')).toBe(true);
  });
});
