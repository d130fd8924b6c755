import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../support/run-command.js';
import { PACKAGE } from '../../../src/package.js';
import { FakeStream } from '../../support/fake-stream.js';

let folder: string;
const file = (name: string): string => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-cli-'));
  writeFileSync(file('none.json'), '{ "mcpServers": {} }');
  writeFileSync(file('broken.json'), '{ "mcpServers": ');
  writeFileSync(
    file('off.json'),
    '{ "mcpServers": { "spare": { "command": "no-such-command", "disabled": true } } }',
  );
});

afterAll(() => rmSync(folder, { recursive: true }));

async function troupe(...args: readonly string[]) {
  const stdout = new FakeStream();
  const stderr = new FakeStream();
  const code = await run(args, { stdout, stderr, stdin: Readable.from([]), env: {} });
  return { code, stdout: stdout.written, stderr: stderr.written };
}

describe('the command line', () => {
  it('prints its version.', async () => {
    for (const flag of ['--version', '-v'])
      expect(await troupe(flag)).toEqual({ code: 0, stdout: `${PACKAGE.version}\n`, stderr: '' });
  });

  it('has help for itself and for every command.', async () => {
    const help = await troupe('--help');
    expect(help).toMatchObject({ code: 0, stderr: '' });
    const [, list = ''] = help.stdout.split('\nCommands:\n');
    const names = [...list.matchAll(/^ {2}([a-z]+)\b/gm)].flatMap(([, name]) =>
      name === 'help' ? [] : name!,
    );
    expect(names).toEqual(expect.arrayContaining(['up', 'check', 'call', 'machine']));
    for (const name of names) {
      const own = await troupe(name, '--help');
      expect(own).toMatchObject({ code: 0, stderr: '' });
      expect(own.stdout).toContain(`Usage: troupe ${name}`);
      expect(own.stdout).toContain('--config <file>');
      expect(own.stdout).toMatch(new RegExp(`\nExamples:\n  troupe ${name}\\b`));
    }
  });

  it.each(['check', 'tools', 'up'])('fails if the only server has an invalid name: %s.', async (command) => {
    writeFileSync(file('nobody.json'), '{ "mcpServers": { "__proto__": { "command": "no-such-command" } } }');
    const { code, stderr } = await troupe(command, '--config', file('nobody.json'));
    expect(code).toBe(2);
    expect(stderr).toContain('needs another name');
  });

  it('fails a check that leaves out a server with an invalid name, and reports why.', async () => {
    writeFileSync(
      file('beside.json'),
      '{ "mcpServers": { "__proto__": { "command": "no-such-command" }, "off": { "command": "x", "disabled": true } } }',
    );
    const { code, stderr } = await troupe('check', '--config', file('beside.json'));
    expect(code).toBe(1);
    expect(stderr).toContain('needs another name');
  });

  it('prints help on stderr if no command is given.', async () => {
    const nothing = await troupe();
    expect(nothing).toMatchObject({ code: 2, stdout: '' });
    expect(nothing.stderr).toContain('Usage: troupe [options] [command]');
  });

  it.each<readonly [string, readonly string[], string, string]>([
    ['a command', ['chekc'], "unknown command 'chekc' (Did you mean check?)", 'troupe'],
    ['a command for help', ['help', 'chekc'], "unknown command 'chekc' (Did you mean check?)", 'troupe'],
    ['another command for help', ['help', 'engine'], "unknown command 'engine'", 'troupe'],
    ['a flag', ['check', '--jsno'], "unknown option '--jsno' (Did you mean --json?)", 'troupe check'],
    ['an argument', ['call'], "missing required argument 'tool'", 'troupe call'],
    [
      'too many arguments',
      ['up', 'now'],
      "too many arguments for 'up'. Expected 0 arguments but got 1.",
      'troupe up',
    ],
    [
      'the name of a machine',
      ['machine', 'engine'],
      "command-argument value 'engine' is invalid for argument 'machine'. Allowed choices are connection, manager, configuration, signIn, lease, review.",
      'troupe machine',
    ],
    [
      'a limit',
      ['--timeout', '1s', 'up'],
      "option '--timeout <ms>' argument '1s' is invalid. Expected a whole number of milliseconds from 0 to 2147483647.",
      'troupe',
    ],
    [
      'a limit that no timer can hold',
      ['--timeout', '2147483648', 'up'],
      "option '--timeout <ms>' argument '2147483648' is invalid. Expected a whole number of milliseconds from 0 to 2147483647.",
      'troupe',
    ],
    [
      'a number of attempts',
      ['check', '--attempts', '0'],
      "option '--attempts <n>' argument '0' is invalid. Expected a whole number of attempts from 1 to 1000.",
      'troupe check',
    ],
    ...['-1', '1.5', '24:30', '10:60', '+1m', 'yesterday'].map((text): [string, string[], string, string] => [
      `the moment ${text}`,
      ['replay', 'session.jsonl', `--at=${text}`],
      `option '--at <moment>' argument '${text}' is invalid. Expected the number of an entry, seconds from the beginning such as +1.5s, a time such as 14:02:31, or one with its date such as 2026-01-31T12:00:00Z.`,
      'troupe replay',
    ]),
    ...['--record-wire', '--record-bodies'].map((flag): [string, string[], string, string] => [
      `${flag} without a file`,
      ['up', flag],
      `${flag} needs a file: --record FILE.`,
      'troupe up',
    ]),
    [
      'an added server',
      ['--add', 'https://token@example.com', 'up'],
      '--add: expected NAME=COMMAND-OR-URL',
      'troupe',
    ],
    ['a server added twice', ['--add', 'a=b', '--add', 'a=c', 'up'], '--add a: given twice', 'troupe'],
    [
      'an added address',
      ['--add', 'a=https://user:secret@', 'check'],
      "--add a: field 'url': is not a complete address such as https://example.com/mcp",
      'troupe check',
    ],
    [
      'a server',
      ['tools', '--add', 'files=x', 'filse'],
      "no server is called 'filse'; did you mean 'files'?",
      'troupe tools',
    ],
    [
      'a server to check',
      ['check', '--add', 'files=x', 'filse'],
      "no server is called 'filse'; did you mean 'files'?",
      'troupe check',
    ],
    [
      'a tool',
      ['call', '--add', 'files=x', 'mcp__filse__read'],
      "no server is called 'filse'; did you mean 'files'?",
      'troupe call',
    ],
    [
      'a call',
      ['call', '--add', 'files=x', 'files/read', 'word'],
      'ARGS is neither JSON nor key=value pairs',
      'troupe call',
    ],
  ])(
    'reports a mistake in %s in one line, with the command that prints help: %j.',
    async (_, args, reason, command) => {
      expect(await troupe(...args)).toEqual({
        code: 2,
        stdout: '',
        stderr: `troupe: ${reason}\nSee '${command} --help'.\n`,
      });
    },
  );

  it.each([
    ['missing.json', 'there is no such file'],
    ['none.json', 'no servers in it'],
    ['broken.json', 'expected'],
    ['', 'is a folder, not a file'],
  ])('starts nothing with the configuration %j: %s.', async (name, reason) => {
    const { code, stdout, stderr } = await troupe('check', '--config', file(name));
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^troupe: [^\n]*\n$/);
    expect(stderr).toContain(reason);
  });

  it('refuses to start servers that are disabled.', async () => {
    for (const args of [['tools'], ['tools', 'spare'], ['call', 'spare/read']]) {
      expect(await troupe(...args, '--config', file('off.json'))).toEqual({
        code: 2,
        stdout: '',
        stderr: 'troupe: disabled by configuration: spare\n',
      });
    }
  });

  it('reports success if every server is disabled.', async () => {
    expect(await troupe('check', '--config', file('off.json'))).toEqual({
      code: 0,
      stdout: '- spare  disabled\n\n0 of 0 ready\n',
      stderr: '',
    });
  });

  it('prints a stack trace only with --verbose.', async () => {
    expect((await troupe('check', '--verbose', '--config', file('missing.json'))).stderr).toMatch(
      /\n {4}at /,
    );
  });
});

describe('troupe machine', () => {
  it('prints a chart in three formats.', async () => {
    expect((await troupe('machine', 'connection')).stdout).toMatch(/^stateDiagram-v2\n/);
    expect((await troupe('machine', 'manager', '--format', 'scxml')).stdout).toMatch(
      /^<\?xml [^]*<\/scxml>\n$/,
    );
    const json = await troupe('machine', 'manager', '--format', 'json');
    expect(JSON.parse(json.stdout)).toMatchObject({ root: { id: 'manager' } });
    expect(await troupe('machine', 'manager', '--json')).toEqual(json);
  });
});
