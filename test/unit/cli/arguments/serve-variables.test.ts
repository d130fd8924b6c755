/** The flags of `troupe serve` from the environment. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { applyVariables, serveVariables } from '../../../../src/cli/arguments/serve-variables.js';
import { declareProgram } from '../../../../src/cli/program.js';
import { UsageError } from '../../../../src/cli/exit.js';
import { FakeStream } from '../../../support/fake-stream.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

function parsed(words: readonly string[]): Command {
  const act = async (): Promise<void> => {};
  const host = { stdout: new FakeStream(), stderr: new FakeStream(), stdin: process.stdin, env: {} };
  const program = declareProgram({ act, reuse: act }, host);
  const serve = program.commands.find((command) => command.name() === 'serve')!;
  serve.action(() => {});
  program.parse(['serve', ...words], { from: 'user' });
  return serve;
}

function flagsOf(env: Readonly<Record<string, string>>, words: readonly string[] = []) {
  const command = parsed(words);
  const { used, warnings } = applyVariables(command, env);
  return { flags: command.optsWithGlobals<Record<string, unknown>>(), used, warnings };
}

describe('a variable', () => {
  it.each<[string, string, string, unknown]>([
    ['HTTP', '8700', 'http', 8700],
    ['HTTP', 'true', 'http', true],
    ['HOST', '0.0.0.0', 'host', '0.0.0.0'],
    ['NO_TOKEN', 'true', 'token', false],
    ['NO_TOKEN', '0', 'token', undefined],
    ['FAIL_CLOSED', '1', 'failClosed', true],
    ['FAIL_CLOSED', 'false', 'failClosed', false],
    ['DISCOVER', 'false', 'discover', false],
    [
      'ALLOW_ORIGIN',
      'http://a.example, http://b.example',
      'allowOrigin',
      ['http://a.example', 'http://b.example'],
    ],
    ['REQUIRE', 'git', 'require', ['git']],
    [
      'CONFIG',
      ['a.json', 'b.json'].join(process.platform === 'win32' ? ';' : ':'),
      'config',
      ['a.json', 'b.json'],
    ],
    ['OFFER', 'search', 'offer', 'search'],
    ['GRACE_PERIOD', '20000', 'gracePeriod', 20_000],
    ['METRICS', '0.0.0.0:9464', 'metrics', { host: '0.0.0.0', port: 9464 }],
    ['METRICS', '[::]:9464', 'metrics', { host: '::', port: 9464 }],
    ['LOG_FORMAT', 'json', 'logFormat', 'json'],
    ['VERBOSE', 'true', 'verbose', true],
    ['HOST', '', 'host', undefined],
  ])('TROUPE_SERVE_%s=%s sets %s.', (name, text, attribute, value) => {
    const { flags, used, warnings } = flagsOf({ [`TROUPE_SERVE_${name}`]: text });
    expect(flags[attribute]).toEqual(value);
    expect(warnings).toEqual([]);
    if (text !== '' && text !== '0') expect(used.get(attribute)).toBe(`TROUPE_SERVE_${name}`);
  });

  it('gives way to its flag.', () => {
    const env = { TROUPE_SERVE_HTTP: '1', TROUPE_SERVE_CONFIG: 'a.json', TROUPE_SERVE_NO_TOKEN: 'true' };
    const { flags, used } = flagsOf(env, ['--http', '2', '--config', 'b.json', '--token', 'x']);
    expect([flags['http'], flags['config'], flags['token'], used.size]).toEqual([2, ['b.json'], 'x', 0]);
  });

  it.each([
    ['HTTP', '99999'],
    ['HTTP', 'http://x'],
    ['BARE', 'yes please'],
    ['OFFER', 'some'],
    ['PUBLIC_URL', 'example.com'],
    ['METRICS', 'host'],
    ['METRICS', 'a/b:1'],
    ['MAX_SESSIONS', '0'],
    ['LOG_FORMAT', 'xml'],
  ])('TROUPE_SERVE_%s=%s is refused by its name, and without the value.', (name, text) => {
    const variable = `TROUPE_SERVE_${name}`;
    const attempt = (): unknown => flagsOf({ [variable]: text });
    expect(attempt).toThrow(UsageError);
    expect(attempt).toThrow(new RegExp(`^${variable}: (?!.*${text}$)`));
  });

  it('that means nothing is reported with the nearest name, unless Kubernetes makes it.', () => {
    const { warnings } = flagsOf({
      TROUPE_SERVE_HTPP: '1',
      TROUPE_SERVE_TOKEN: 'secret',
      TROUPE_SERVE_CHAIN: 'x',
      TROUPE_SERVE_PORT: 'tcp://10.0.0.1:8700',
      TROUPE_SERVE_SERVICE_HOST: '10.0.0.1',
      TROUPE_SERVE_PORT_8700_TCP_ADDR: '10.0.0.1',
    });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/TROUPE_SERVE_HTPP.*TROUPE_SERVE_HTTP\?$/);
  });

  it('of each flag is in the table of the guide.', () => {
    const page = readFileSync(new URL('../../../../docs/guide/operations.md', import.meta.url), 'utf8');
    const listed = [...page.matchAll(/^\| `(TROUPE_SERVE_\w+)`/gm)].map(([, name]) => name);
    expect(listed.toSorted()).toEqual(
      [...serveVariables(parsed([])).keys(), 'TROUPE_SERVE_TOKEN'].toSorted(),
    );
  });
});
