import { describe, expect, it } from 'vitest';
import { Cookies } from '../../../../src/transports/http/cookies.js';
import { createControlledClock } from '../../../support/controlled-clock.js';

const HERE = new URL('https://a.example/tools/mcp');

function jar(...lines: string[]): { cookies: Cookies; clock: ReturnType<typeof createControlledClock> } {
  const clock = createControlledClock();
  const cookies = new Cookies(clock);
  cookies.take(lines, HERE);
  return { cookies, clock };
}

const sent = (cookies: Cookies, to = HERE, configured?: string): string | undefined =>
  cookies.header(to, configured);

describe('The cookies of a session', () => {
  it.each([
    [['lane=1; Path=/; HttpOnly; SameSite=None; Secure'], 'lane=1'],
    [['lane=1', 'zone=b'], 'lane=1; zone=b'],
    [['lane=1', 'lane=2'], 'lane=2'],
    [['lane="q=1"; Domain=.a.example'], 'lane="q=1"'],
    [['lane=1; Path=/other'], undefined],
    [['lane=1; Path=/tools'], 'lane=1'],
    [['lane=1; Path=/too'], undefined],
    [['wide=1; Path=/', 'narrow=2; Path=/tools'], 'narrow=2; wide=1'],
    [['lane=1', 'lane=1; Max-Age=0'], undefined],
    [['lane=1', 'lane=; Expires=Thu, 01 Jan 1970 00:00:00 GMT'], undefined],
    [['lane=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60'], 'lane=1'],
    [['lane=1; Expires=never'], 'lane=1'],
    [['', ';', '='], undefined],
    [['lane=1\r\nx: y'], undefined],
    [[`lane=${'x'.repeat(5_000)}`], undefined],
  ])('%j are sent back as %s', (lines, header) => {
    expect(sent(jar(...lines).cookies)).toBe(header);
  });

  it('end at their time.', async () => {
    const { cookies, clock } = jar('lane=1; Max-Age=60');
    await clock.advance(59_000);
    expect(sent(cookies)).toBe('lane=1');
    await clock.advance(1_000);
    expect(sent(cookies)).toBeUndefined();
  });

  it('go to the host and port that set them.', () => {
    const { cookies } = jar('lane=1; Domain=example; Path=/');
    expect(sent(cookies, new URL('https://a.example/other'))).toBe('lane=1');
    for (const host of ['b.example', 'a.example:8443', 'www.a.example'])
      expect(sent(cookies, new URL(`https://${host}/tools/mcp`))).toBeUndefined();
  });

  it('for protected connections are not sent without protection.', () => {
    const { cookies } = jar('lane=1; Secure', 'zone=b');
    expect(sent(cookies, new URL('http://a.example/tools/mcp'))).toBe('zone=b');
  });

  it('come after those of the entry.', () => {
    expect(sent(jar('lane=1').cookies, HERE, 'mine=x')).toBe('mine=x; lane=1');
    expect(sent(jar().cookies, HERE, 'mine=x')).toBe('mine=x');
  });

  it('are bounded: the oldest go first.', () => {
    const { cookies } = jar(...Array.from({ length: 60 }, (_, i) => `c${i}=1`));
    expect(cookies.values).toHaveLength(50);
    expect(sent(cookies)).not.toContain('c9=');
    expect(sent(cookies)).toContain('c59=');
  });
});
