import { describe, expect, it } from 'vitest';
import { createMask, maskFailure, maskJson, NO_MASK, secretsOf } from '../../src/secrets.js';

describe('the secrets of an entry', () => {
  it('are its env values and the host variables it refers to, but not places of this machine', () => {
    const config = { command: 'lamp', env: { TOKEN: 'abc-token', MODE: 'on' } };
    const env = { API_KEY: 'key-1234', HOME: '/home/ada' };
    expect(secretsOf(config, ['API_KEY', 'HOME', 'UNSET'], env).toSorted()).toEqual([
      'abc-token',
      'key-1234',
    ]);
  });

  it('are its header values, with and without their scheme, and the credentials and query of its address', () => {
    const config = {
      url: 'https://ada:pass-word@example.com/mcp?key=query-value',
      headers: { Authorization: 'Bearer header-token' },
    };
    expect(secretsOf(config, [], {}).toSorted()).toEqual([
      'Bearer header-token',
      'header-token',
      'pass-word',
      'query-value',
    ]);
  });

  it('are not the host and the port of its address, which variables may give', () => {
    const config = { url: 'http://lamps.example:48123/k/key-1234/mcp' };
    const env = { PORT: '48123', HOST: 'lamps.example', KEY: 'key-1234' };
    expect(secretsOf(config, ['PORT', 'HOST', 'KEY'], env)).toEqual(['key-1234']);
  });

  it('are told line by line where they have several', () => {
    const key = '-----BEGIN\nfirst line of it\r\nthe second one\n-----END';
    const mask = createMask(secretsOf({ command: 'lamp', env: { KEY: key } }, [], {}));
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
  ])('strikes a secret out %s', (_, told, shown) => {
    expect(mask(told)).toBe(shown);
  });

  it.each(['', 'u', 'me', 'ada', 'harbor'])(
    'strikes a secret out inside base64, of either alphabet, after "%s:"',
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

  it('strikes out a secret of any length, inside base64 too', () => {
    const secret = 'https://example.com/?key=value ~more> '.repeat(3_000);
    const mask = createMask([secret]);
    for (const alphabet of ['base64', 'base64url'] as const) {
      const shown = mask(`It said ${Buffer.from(secret).toString(alphabet)}.`);
      expect(shown).toMatch(/^It said \*\*\*[\w=]{0,3}\.$/);
    }
  });

  it('reaches every text in JSON and leaves names, numbers and null alone', () => {
    const told = { list: ['tok"en/1', 1, null], deep: { text: 'tok"en/1' } };
    expect(maskJson(told, mask)).toEqual({ list: ['***', 1, null], deep: { text: '***' } });
  });

  it('leaves code, phase and figures of a failure alone, whatever the secrets are', () => {
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

  it('is none where there is no secret, and then changes nothing', () => {
    const told = { a: 1 };
    expect(createMask([])).toBe(NO_MASK);
    expect(maskJson(told, NO_MASK)).toEqual(told);
  });

  it('leaves out what is nested too deeply to be looked through, with secrets and without', () => {
    let told: unknown = 'tok"en/1';
    for (let level = 0; level < 100_000; level += 1) told = [told];
    for (const one of [mask, NO_MASK]) {
      expect(JSON.stringify(maskJson(told, one))).toBe(
        `${'['.repeat(100)}"[nested too deeply]"${']'.repeat(100)}`,
      );
    }
  });
});
