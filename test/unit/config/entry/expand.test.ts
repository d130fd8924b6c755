import { readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  expandConfig,
  inputsWanted,
  variablesWanted,
  type ExpansionContext,
} from '../../../../src/config/entry/expand.js';
import { parseConfigText } from '../../../../src/config/files/parse-config.js';
import { THIS_PLATFORM } from '../../../../src/platform/platform.js';
import type { ServerConfig } from '../../../../src/config/entry/server-config.js';

const BASE = resolve('/srv/project');
const HOME = resolve('/home/ada');

function expand(config: ServerConfig, context: Partial<ExpansionContext> = {}) {
  return expandConfig({ name: 'lamp', baseDir: BASE, config }, { env: {}, home: HOME, ...context });
}

function expanded(config: ServerConfig, context: Partial<ExpansionContext> = {}): ServerConfig {
  const result = expand(config, context);
  if ('failure' in result) throw new Error(result.failure.message);
  return result.config;
}

function failed(config: ServerConfig, context: Partial<ExpansionContext> = {}) {
  const result = expand(config, context);
  if ('config' in result) throw new Error('expected a failure');
  return result.failure;
}

function fixture(name: string): readonly { readonly name: string; readonly config: ServerConfig }[] {
  const text = readFileSync(new URL(`../fixtures/${name}.mcp.json`, import.meta.url), 'utf8');
  return parseConfigText(text, name).entries;
}

describe('expanding an entry', () => {
  it('finds the files of certificates, and fills the proxy', () => {
    const config = {
      url: 'https://a.example/',
      proxy: 'http://${USER_NAME}:${PASS}@proxy.example',
      ca: ['certs/${NAME}.pem', '/etc/ca.pem'],
      cert: '~/c.pem',
      key: '../k.pem',
    };
    expect(expanded(config, { env: { USER_NAME: 'ann', PASS: 'x', NAME: 'house' } })).toEqual({
      ...config,
      proxy: 'http://ann:x@proxy.example',
      ca: [join(BASE, 'certs/house.pem'), resolve('/etc/ca.pem')],
      cert: join(HOME, 'c.pem'),
      key: resolve('/srv/k.pem'),
    });
    expect(expanded({ url: 'https://a.example/', proxy: false, ca: 'ca.pem' })).toMatchObject({
      proxy: false,
      ca: [join(BASE, 'ca.pem')],
    });
  });

  it('fills command, arguments, environment and working directory', () => {
    const config = {
      command: '${BIN}/lamp',
      args: ['--room=$ROOM', '${LEVEL:-3}'],
      env: { ROOM: '${ROOM}', PRICE: '$5', LITERAL: '$ROOM' },
      cwd: '$SUB/x',
    };
    expect(expanded(config, { env: { BIN: '/bin', ROOM: 'cellar', SUB: 'deep' } })).toEqual({
      command: '/bin/lamp',
      args: ['--room=cellar', '3'],
      env: { ROOM: 'cellar', PRICE: '$5', LITERAL: '$ROOM' },
      cwd: join(BASE, 'deep/x'),
    });
  });

  it('fills address and headers, where a name without braces is literal', () => {
    const config = {
      url: 'https://$HOST/${PATH_}',
      headers: { Authorization: 'Bearer ${TOKEN}', X: '$TOKEN' },
    };
    expect(
      expanded({ ...config, url: 'https://h/${PATH_}?$filter=a' }, { env: { PATH_: 'mcp', TOKEN: 't1' } }),
    ).toEqual({
      url: 'https://h/mcp?$filter=a',
      headers: { Authorization: 'Bearer t1', X: '$TOKEN' },
    });
  });

  it('leaves names of variables, headers and every setting alone', () => {
    const config = { command: 'x', env: { $A: 'b' }, startTimeoutMs: 5, tools: { allow: ['$A'] }, cwd: BASE };
    expect(expanded(config, { env: { A: 'no' } })).toEqual(config);
  });

  it('returns an in-process entry unchanged', () => {
    const config = { type: 'in-process', server: { connect: () => Promise.resolve() } } as const;
    expect(expanded(config)).toBe(config);
  });

  it('reads the variables again every time', () => {
    const config = { url: 'https://h/', headers: { A: '${T}' } };
    expect(expanded(config, { env: { T: 'old' } })).toHaveProperty('headers.A', 'old');
    expect(expanded(config, { env: { T: 'new' } })).toHaveProperty('headers.A', 'new');
  });

  it('knows the workspace folder, which is not a variable of the host', () => {
    const config = { command: 'x', args: ['${workspaceFolder}/a', '${env:workspaceFolder}'] };
    const context = { workspaceFolder: '/ws', env: { workspaceFolder: 'from env' } };
    expect(expanded(config, context)).toHaveProperty('args', ['/ws/a', 'from env']);
    expect(failed(config, { env: context.env }).message).toContain("workspaceFolder (in 'args[0]')");
  });

  it('does not find inherited properties of an object', () => {
    expect(failed({ command: 'x', args: ['${constructor}'] })).toMatchObject({ code: 'variable-missing' });
  });

  it('handles variables with and without defaults as the fault kit expects', () => {
    const [hall] = fixture('env-defaults');
    expect(expanded(hall!.config, { env: { LANTERN_ROOM: 'cellar' } })).toMatchObject({
      command: 'node',
      args: ['faulty-stdio.mjs', '--mode=tells-environment', '--colour=amber'],
      env: { LANTERN_ROOM: 'cellar', LANTERN_LEVEL: '3' },
    });
    const [ferry] = fixture('header-variable');
    const env = { FERRY_URL: 'http://127.0.0.1:9/mcp', FERRY_TOKEN: 'tok-55aa' };
    expect(expanded(ferry!.config, { env })).toMatchObject({
      url: env.FERRY_URL,
      headers: { Authorization: 'Bearer tok-55aa', 'X-Harbour': 'north' },
    });
  });
});

describe('the home folder', () => {
  it.each([
    ['~', HOME],
    ['~/tools/lamp', `${HOME}/tools/lamp`],
    ['~\\tools', `${HOME}\\tools`],
    ['~/$A', `${HOME}/alpha`],
    ['~other/x', '~other/x'],
    ['a~', 'a~'],
    ['--dir=~/x', '--dir=~/x'],
    ['${TILDE}/x', '~/x'],
  ])('%s in an argument becomes %s', (arg, value) => {
    const env = { A: 'alpha', TILDE: '~' };
    expect(expanded({ command: 'x', args: [arg] }, { env })).toHaveProperty('args', [value]);
  });

  it('is expanded in command and cwd', () => {
    expect(expanded({ command: '~/lamp', cwd: '~/work' })).toMatchObject({
      command: `${HOME}/lamp`,
      cwd: join(HOME, 'work'),
    });
  });

  it('is not expanded in env, address or headers', () => {
    expect(expanded({ command: 'x', env: { A: '~/x' } })).toHaveProperty('env.A', '~/x');
    expect(expanded({ url: 'http://x/', headers: { A: '~/x' } })).toHaveProperty('headers.A', '~/x');
  });

  it.each([
    [{ command: '~/x' }, 'command'],
    [{ command: 'x', args: ['${userHome}/y'] }, 'args[0]'],
  ])('is reported as missing only if it is needed and unknown: %o', (config, field) => {
    expect(failed(config, { home: undefined })).toMatchObject({
      code: 'variable-missing',
      message: expect.stringContaining(`${THIS_PLATFORM.homeVariable} (in '${field}')`),
    });
    expect(expanded({ command: 'x' }, { home: undefined })).toHaveProperty('command', 'x');
  });

  it('is not read as a template itself', () => {
    expect(expanded({ command: '~/x' }, { home: '/home/$A' })).toHaveProperty('command', '/home/$A/x');
  });
});

describe('the working directory', () => {
  it.each([
    [undefined, BASE],
    ['.', BASE],
    ['sub', join(BASE, 'sub')],
    ['../other', resolve('/srv/other')],
    ['/abs', resolve('/abs')],
    ['${workspaceFolder}', resolve('/ws')],
  ])('%s becomes %s', (cwd, absolute) => {
    const config = { command: 'x', ...(cwd !== undefined && { cwd }) };
    expect(expanded(config, { workspaceFolder: '/ws' })).toHaveProperty('cwd', absolute);
  });

  it('is not set for a server that is reached over HTTP', () => {
    expect(expanded({ url: 'http://x/' })).toEqual({ url: 'http://x/' });
  });
});

describe('a variable that is not set', () => {
  it('fails the server, and the message names variable, server and field', () => {
    const [needsKey, hall] = fixture('missing-variable');
    const result = expandConfig({ ...needsKey!, baseDir: BASE }, { env: {}, home: HOME });
    expect(result).toMatchObject({
      failure: {
        code: 'variable-missing',
        message:
          "Server 'needs-key' needs a variable that is not set: LANTERN_KEY_THAT_IS_NOT_SET (in 'env.LANTERN_KEY')",
        hint: expect.stringContaining('${NAME:-value}'),
      },
    });
    expect(expand(hall!.config)).toHaveProperty('config');
  });

  it('is reported together with all others', () => {
    const { message } = failed({ command: '$A', args: ['${B}'], env: { X: '${C}' }, cwd: '$D' });
    expect(message).toBe(
      "Server 'lamp' needs variables that are not set: C (in 'env.X'), A (in 'command'), B (in 'args[0]'), D (in 'cwd')",
    );
  });

  it('counts as missing if it is undefined, but not if it is empty', () => {
    expect(failed({ command: 'x', args: ['${A}'] }, { env: { A: undefined } }).code).toBe('variable-missing');
    expect(expanded({ command: 'x', args: ['$A'] }, { env: { A: '' } })).toHaveProperty('args', ['']);
  });

  it('may become an empty text if the host allows it', () => {
    expect(expanded({ command: 'x', args: ['<$A>'] }, { missing: 'empty' })).toHaveProperty('args', ['<>']);
  });
});

describe('a value that is invalid after expansion', () => {
  it.each<[story: string, config: ServerConfig, env: Record<string, string>, reason: string]>([
    ['an empty command', { command: '$A' }, { A: '' }, "'command': is empty once its variables are replaced"],
    [
      'no address',
      { url: '${A}' },
      { A: 'nowhere' },
      "'url': is not a complete address such as https://example.com/mcp",
    ],
    [
      'another scheme',
      { url: '${A}' },
      { A: 'file:///etc/passwd' },
      "'url': must begin with http://, https://, unix:/// or pipe:///",
    ],
    [
      'credentials',
      { url: '${A}' },
      { A: 'http://u:p@h/' },
      "'url': must not hold a user name or password; use 'headers' with Authorization",
    ],
    ['a line break', { url: 'http://h/', headers: { A: '${A}' } }, { A: 'x\r\nEvil: 1' }, "'headers.A'"],
    ['a trailing line break', { url: 'http://h/', headers: { A: '${A}' } }, { A: 'x\n' }, "'headers.A'"],
    [
      'a character no header can carry',
      { url: 'http://h/', headers: { A: '${A}' } },
      { A: '€' },
      "'headers.A'",
    ],
    ['a NUL in a header', { url: 'http://h/', headers: { A: '${A}' } }, { A: 'a\0' }, "'headers.A'"],
  ])('fails the server as bad configuration: %s', (_, config, env, reason) => {
    expect(failed(config, { env })).toEqual({
      code: 'config-invalid',
      message: expect.stringContaining(reason),
    });
  });

  it('may contain blanks, tabs and Latin-1 in a header', () => {
    expect(expanded({ url: 'http://h/', headers: { A: '${A}' } }, { env: { A: 'a b\té' } })).toBeDefined();
  });
});

describe('text for a program', () => {
  it.each<ServerConfig>([
    { command: '$(id)' },
    { command: 'x', env: { A: '$(id) `id` ${x%y} ${list[@]}' } },
    { command: 'x', args: ['{ print $NF, $1 }', '$(id)', '`id`', '${x#y}', '${x/y/z}'] },
    { command: 'mongosh', args: ['--eval', '[{ $match: { a: 1 } }]'] },
    { url: 'http://h/$(a)' },
    { url: 'http://h/', headers: { A: 'Bearer $(token)' } },
  ])('goes in as it is: %j', (config) => {
    const { cwd: _, ...others } = expanded(config) as { cwd?: string };
    expect(others).toEqual(config);
  });

  const script = 'for f in "${list[@]}"; do echo ${A} $A ${A:-x} ${A%b} $f $(id -u) `id` $$ $1; done; ~/x';

  it.each<[command: string, args: readonly string[]]>([
    ['sh', ['-c', script]],
    ['/bin/bash', ['-lc', script]],
    ['bash', ['-euo', 'pipefail', '-c', script]],
    ['bash', ['--norc', '-c', script]],
    ['env', ['B=1', 'zsh', '-c', script]],
    ['docker', ['run', '-i', 'image', 'sh', '-c', script]],
    ['wsl.exe', ['bash', '-c', script]],
    ['C:\\Program Files\\Git\\bin\\bash.exe', ['-c', script]],
    ['pwsh', ['-NoProfile', '-Command', script]],
    ['node', ['--no-warnings', '-e', script]],
    ['python3.12', ['-c', script]],
  ])('is left to the interpreter of %s %j', (command, args) => {
    expect(expanded({ command, args }, { env: { A: 'no' } })).toMatchObject({ command, args });
    expect(variablesWanted({ command, args })).toEqual([]);
  });

  it('ends with the script: its arguments are expanded like any others', () => {
    const args = ['-c', 'exec lamp "$1" ${A}', 'sh', '${A}'];
    expect(expanded({ command: 'sh', args }, { env: { A: 'alpha' } })).toHaveProperty('args', [
      '-c',
      'exec lamp "$1" ${A}',
      'sh',
      'alpha',
    ]);
  });

  it.each<[command: string, args: readonly string[]]>([
    ['cmd', ['/c', 'npx', 'lamp', '${A}']],
    ['sh', ['lamp.sh', '-c', '${A}']],
    ['lamp', ['-c', '${A}']],
    ['node', ['lamp.mjs', '-e', '${A}']],
  ])('is not what another program gets: %s %j', (command, args) => {
    const { args: given } = expanded({ command, args }, { env: { A: 'alpha' } }) as {
      args: readonly string[];
    };
    expect(given).toEqual(args.map((arg) => arg.replace('${A}', 'alpha')));
  });

  it('still has the folders and the answers that no shell knows', () => {
    const config = { command: 'sh', args: ['-c', 'cd ${workspaceFolder} && exec lamp ${input:key}'] };
    const context = { workspaceFolder: '/ws', inputs: { 'input:key': 'k' } };
    expect(expanded(config, context)).toHaveProperty('args', ['-c', 'cd /ws && exec lamp k']);
    expect(inputsWanted(config)).toEqual(['input:key']);
  });
});

describe('the own env of a program', () => {
  const bridge = {
    command: 'npx',
    args: ['mcp-remote', 'https://ferry.example/', '--header', 'Authorization:${AUTH}'],
    env: { AUTH: 'Bearer ${TOKEN}' },
  };

  it('stands before the variables of the host, in arguments', () => {
    const env = { TOKEN: 't-1', AUTH: 'not this' };
    expect(expanded(bridge, { env })).toMatchObject({
      args: [...bridge.args.slice(0, 3), 'Authorization:Bearer t-1'],
      env: { AUTH: 'Bearer t-1' },
    });
    expect(variablesWanted(bridge)).toEqual(['TOKEN']);
  });

  it('is also what a bare name and a default refer to', () => {
    const config = { command: 'x', args: ['$A', '${B:-none}', '${C:-none}'], env: { A: 'a', B: '' } };
    expect(expanded(config, { env: { B: 'host' } })).toHaveProperty('args', ['a', 'none', 'none']);
  });

  it('does not choose the program, its folder or its file', () => {
    const config = { command: '${A}', cwd: '${A}', envFile: '${A}', env: { A: '/own' } };
    expect(expanded(config, { env: { A: '/host' } })).toMatchObject({
      command: '/host',
      cwd: resolve('/host'),
    });
    expect(variablesWanted(config)).toEqual(['A']);
  });

  it('can extend a variable of the host, and use one before it', () => {
    const config = { command: 'x', env: { PATH: '/opt/bin:${PATH}', SAME: '${PATH}' } };
    expect(expanded(config, { env: { PATH: '/bin' } })).toHaveProperty('env', {
      PATH: '/opt/bin:/bin',
      SAME: '/opt/bin:/bin',
    });
    expect(variablesWanted(config)).toEqual(['PATH']);
  });

  it('takes precedence over the variables of its file', () => {
    const config = { command: 'x', args: ['${A} ${B}'], env: { A: 'own' } };
    expect(expanded(config, { fileEnv: { A: 'file', B: 'file' }, env: { B: 'host' } })).toMatchObject({
      args: ['own file'],
      env: { A: 'own', B: 'file' },
    });
  });
});

describe('the variables an entry refers to', () => {
  it.each<[config: ServerConfig, names: readonly string[]]>([
    [{ command: 'x', args: ['a'] }, []],
    [{ command: '$B', args: ['${A:-${C}}'], env: { X: '${A}' }, cwd: '${workspaceFolder}' }, ['A', 'B', 'C']],
    [{ url: 'http://${H}/$NOT', headers: { X: '${env:T}' } }, ['H', 'T']],
    [
      { url: 'http://h/${userHome}', headers: { X: '${A:-${workspaceFolder}}${/}' } },
      ['A', 'userHome', 'workspaceFolder'],
    ],
    [{ command: 'x', inheritEnv: ['LANG', 'A'] }, ['A', 'LANG']],
    [{ command: 'x', inheritEnv: true }, ['*']],
    [{ command: 'x', inheritEnv: false }, []],
    [{ command: 'x', args: ['${'] }, []],
    [{ type: 'in-process', server: { connect: () => Promise.resolve() } }, []],
  ])('%j: %j', (config, names) => {
    expect(variablesWanted(config)).toEqual(names);
  });
});

describe('for any values', () => {
  const value = fc.string({ unit: 'grapheme' });

  it('expansion inserts them unchanged and does not expand them again', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        const config = { command: 'x', args: ['${A}', '<$B>'], env: { C: '${A}${B}' } };
        expect(expanded(config, { env: { A: a, B: b } })).toMatchObject({
          args: [a, `<${b}>`],
          env: { C: `${a}${b}` },
        });
      }),
    );
  });

  it('expansion depends only on its arguments, and does not change them', () => {
    const config = Object.freeze({ command: 'x', args: Object.freeze(['$A', '${B:-b}']), cwd: 'y' });
    fc.assert(
      fc.property(value, (a) => {
        const env = Object.freeze({ A: a });
        expect(expand(config, { env })).toEqual(expand(config, { env }));
      }),
    );
  });

  it('expansion reads only variables that the entry refers to', () => {
    const config = { command: '$A', args: ['${B:-${C}}'], env: { X: '${D}' } };
    const wanted = new Set(variablesWanted(config));
    const env = new Proxy<Record<string, string>>(
      {},
      {
        getOwnPropertyDescriptor: (_, name) => {
          if (!wanted.has(String(name))) throw new Error(`read ${String(name)}`);
          return { value: 'v', configurable: true, enumerable: true };
        },
        get: () => 'v',
      },
    );
    expect(expanded(config, { env })).toMatchObject({ command: 'v', args: ['v'], env: { X: 'v' } });
  });
});

describe('the env of an HTTP entry', () => {
  const ferry = {
    url: 'https://ferry.example/${PORT_NAME}',
    headers: { Authorization: 'Bearer ${TOKEN}', 'X-Host': '${ELSE:-none}' },
    env: { TOKEN: '${FERRY_TOKEN}', PORT_NAME: 'north' },
  };
  const env = { FERRY_TOKEN: 't-1', TOKEN: 'not this', ELSE: 'host' };

  it('takes precedence over the variables of the host, in address and headers.', () => {
    expect(expanded(ferry, { env })).toMatchObject({
      url: 'https://ferry.example/north',
      headers: { Authorization: 'Bearer t-1', 'X-Host': 'host' },
    });
  });

  it('has the only variables that a header may use if the host is strict.', () => {
    expect(expanded(ferry, { env, headers: 'own-env' })).toMatchObject({
      headers: { Authorization: 'Bearer t-1', 'X-Host': 'none' },
    });
    const { env: _, ...bare } = { ...ferry, url: 'https://ferry.example/' };
    expect(failed(bare, { env, headers: 'own-env' })).toMatchObject({
      code: 'variable-missing',
      message: expect.stringContaining("TOKEN (in 'headers.Authorization')"),
      hint: expect.stringContaining("own 'env'"),
    });
    expect(expanded(bare, { env, headers: 'own-env', missing: 'empty' })).toMatchObject({
      headers: { Authorization: 'Bearer ', 'X-Host': 'none' },
    });
  });

  it('hides variables of the host, but may refer to them itself.', () => {
    expect(variablesWanted(ferry)).toEqual(['ELSE', 'FERRY_TOKEN']);
    expect(variablesWanted({ ...ferry, env: { TOKEN: '${TOKEN}', PORT_NAME: 'x' } })).toEqual([
      'ELSE',
      'TOKEN',
    ]);
  });

  it('must not break a header either.', () => {
    expect(failed(ferry, { env: { ...env, FERRY_TOKEN: 'a\r\nX: y' } })).toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining('must not contain a line break'),
    });
  });
});

describe('built-in names', () => {
  it('are the folders and the path separator of this machine.', () => {
    const args = ['${workspaceFolder}${/}x', '${workspaceFolderBasename}', '${userHome}', '${pathSeparator}'];
    expect(expanded({ command: 'x', args }, { workspaceFolder: BASE })).toMatchObject({
      args: [`${BASE}${sep}x`, 'project', HOME, sep],
    });
    expect(failed({ command: 'x', args: ['${workspaceFolderBasename}'] }).code).toBe('variable-missing');
    expect(variablesWanted({ command: 'x', args })).toEqual([]);
  });
});

describe('an answer to an input', () => {
  const config = {
    command: 'x',
    args: ['${input:room}'],
    env: { A: '${B:-${input:api-key}}', C: '${input:room}' },
  };

  it('is inserted unchanged wherever it is referred to.', () => {
    const inputs = { 'input:room': '${HOME}', 'input:api-key': 'k-1' };
    expect(expanded(config, { inputs })).toMatchObject({
      args: ['${HOME}'],
      env: { A: 'k-1', C: '${HOME}' },
    });
  });

  it('is reported as missing if there is none.', () => {
    expect(failed(config).message).toContain("input:room (in 'args[0]')");
  });

  it('is distinguished from the variables of the host.', () => {
    expect(inputsWanted(config)).toEqual(['input:api-key', 'input:room']);
    expect(variablesWanted(config)).toEqual(['B']);
  });
});
