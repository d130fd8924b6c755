import { readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KNOWN_SOURCES } from '../../../src/config/files/known-sources.js';
import { readerOf } from '../../../src/config/files/layout.js';
import { parseConfigText, type ParsedConfig } from '../../../src/config/files/parse-config.js';
import { problemLine } from '../../support/problem-line.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

const ROOT = '/srv/project';

async function parse(kind: string, text: string): Promise<ParsedConfig> {
  const row = KNOWN_SOURCES.find((known) => known.kind === kind && known.scope === 'user');
  const layout = (row ?? KNOWN_SOURCES.find((known) => known.kind === kind))?.layout(ROOT);
  if (layout === undefined) throw new Error(`There is no source ${kind}.`);
  return parseConfigText(text, kind, layout, await readerOf(layout.syntax));
}

async function read(file: string) {
  const kind = file.replace(/(?:-2)?\.(json|toml|yaml)$/, '');
  const text = readFileSync(new URL(`fixtures/sources/${file}`, import.meta.url), 'utf8');
  const { entries, refused, problems, inputs } = await parse(file === 'mcp.json' ? file : kind, text);
  return {
    servers: Object.fromEntries(entries.map(({ name, config }) => [name, config])),
    refused,
    problems: problems.map(problemLine),
    inputs: [...inputs.values()],
  };
}

const FERRY = { url: 'https://ferry.example/mcp' };
const SIGNED = { url: 'https://signed.example/mcp' };

describe('the configuration of', () => {
  it('a project is read unchanged.', async () => {
    expect(await read('mcp.json')).toMatchObject({
      servers: {
        lamps: {
          type: 'stdio',
          command: 'node',
          args: ['lamps.mjs', '${ROOM:-hall}'],
          env: { LAMP_KEY: '${LAMP_KEY}' },
        },
        ferry: { ...FERRY, type: 'http', headers: { Authorization: 'Bearer ${FERRY}' } },
      },
      problems: [],
    });
  });

  it('VS Code has inputs, and unsupported fields are reported.', async () => {
    const PATH = `\${PATH}${delimiter}/opt/lamps/bin`;
    expect(await read('vscode.json')).toEqual({
      servers: {
        lamps: {
          type: 'stdio',
          command: 'node',
          args: ['${workspaceFolder}/lamps.mjs', '${input:room}'],
          env: { LAMP_KEY: '${input:lamp-key}' },
          envFile: '${workspaceFolder}/.env',
        },
        paths: { type: 'stdio', command: 'paths', env: { PATH, PORT: '8080' } },
        boxed: { type: 'stdio', command: 'boxed' },
        signed: { ...SIGNED, type: 'http', oauth: { clientId: 'vscode' } },
        ferry: { ...FERRY, type: 'http' },
      },
      refused: [],
      problems: ["vscode:16:36: server 'boxed', field 'sandboxEnabled': unknown-field"],
      inputs: [
        { id: 'lamp-key', description: 'Key of the lamps', password: true },
        {
          id: 'room',
          description: 'Which room',
          default: 'hall',
          options: ['hall', 'yard'],
          password: false,
        },
      ],
    });
  });

  it.each(['{ "servers": S }', '{ "mcp": { "servers": S } }'])(
    'VS Code may set variables to numbers or null, which removes them: %s',
    async (text) => {
      const servers =
        '{ "a": { "command": "x", "env": { "PORT": 3000, "RATIO": 0.5, "A": "b", "GONE": null } } }';
      const { entries, problems } = await parse('vscode', text.replace('S', servers));
      expect(entries).toMatchObject([{ config: { env: { PORT: '3000', RATIO: '0.5', A: 'b' } } }]);
      expect(problems).toEqual([]);
    },
  );

  it('VS Code with a command for an input asks a person, with a warning.', async () => {
    const text =
      '{ "servers": { "a": { "command": "x" } }, "inputs": [{ "type": "command", "id": "key", "command": "c" }] }';
    const { problems, inputs } = await parse('vscode', text);
    expect([...inputs.keys()]).toEqual(['key']);
    expect(problems).toMatchObject([{ severity: 'warning', field: 'inputs' }]);
  });

  it('VS Code with a variable of another type is reported with its position.', async () => {
    const { refused, problems } = await parse(
      'vscode',
      '{ "servers": { "a": { "command": "x", "env": { "A": [] } } } }',
    );
    expect(refused).toEqual(['a']);
    expect(problems.map(problemLine)).toEqual(["vscode:1:48: server 'a', field 'env.A': wrong-type"]);
  });

  it.each([
    ['"includeTools": ["on"], "excludeTools": ["off"]', { allow: ['on'], deny: ['off'] }, undefined],
    ['"disabledTools": ["off"]', { deny: ['off'] }, undefined],
    ['"tools": ["on"], "disabledTools": ["off"]', { allow: ['on'] }, 'disabledTools'],
    ['"excludeTools": ["a"], "disabledTools": ["off"]', { deny: ['a'] }, 'disabledTools'],
  ])('any given host keeps its tool lists: %s', async (lists, tools, unused) => {
    const { entries, problems } = await parse(
      'mcp.json',
      `{ "mcpServers": { "a": { "command": "x", ${lists} } } }`,
    );
    expect(entries).toMatchObject([{ config: { tools } }]);
    expect(problems.map(({ field }) => field)).toEqual(unused === undefined ? [] : [unused]);
  });

  it.each(['{ "servers": S }', '{ "mcp": { "servers": S } }'])(
    'VS Code keeps tool lists that an entry brought from another host: %s',
    async (text) => {
      const servers = '{ "a": { "command": "x", "env": { "N": 1 }, "disabledTools": ["off"] } }';
      const { entries, problems } = await parse('vscode', text.replace('S', servers));
      expect(entries).toMatchObject([{ config: { env: { N: '1' }, tools: { deny: ['off'] } } }]);
      expect(problems).toEqual([]);
    },
  );

  it('Gemini CLI may have settings under mcp that are not servers.', async () => {
    const text =
      '{ "mcp": { "allowed": ["a"], "serverCommand": "x" }, "mcpServers": { "a": { "command": "x" } } }';
    const { entries, refused, problems } = await parse('mcp.json', text);
    expect(entries.map(({ name }) => name)).toEqual(['a']);
    expect([refused, problems]).toEqual([[], []]);
  });

  it('Cursor is like that of a project.', async () => {
    expect(await read('cursor.json')).toMatchObject({
      servers: {
        lamps: {
          command: 'npx',
          args: ['-y', 'lamps', '--home=${userHome}'],
          env: { LAMP_KEY: '${env:LAMP_KEY}' },
          envFile: '${workspaceFolder}/.env',
        },
        ferry: { url: 'https://ferry.example/sse', headers: { 'X-Harbour': 'north' } },
        signed: {
          ...SIGNED,
          oauth: { clientId: '${env:SIGNED_ID}', clientSecret: '${env:SIGNED_SECRET}', scope: 'read write' },
        },
      },
      problems: [],
    });
  });

  it('Claude Desktop keeps code for a shell unchanged.', async () => {
    const text = JSON.stringify({
      mcpServers: { a: { command: 'sh', args: ['-c', 'echo ${A} $A $(id)', '${A}'] } },
    });
    const { entries } = await parse('claude-desktop', text);
    expect(entries).toMatchObject([{ config: { args: ['-c', 'echo ${A} $A $(id)', '$${A}'] } }]);
  });

  it('Claude Desktop keeps dollar signs literal where a text is no code, although the same text is code elsewhere.', async () => {
    const script = 'echo ${A}';
    const entry = {
      command: 'sh',
      args: ['-c', script, script],
      env: { A: script, B: '$HOME' },
      cwd: script,
    };
    const { entries } = await parse('claude-desktop', JSON.stringify({ mcpServers: { a: entry } }));
    expect(entries).toMatchObject([
      {
        config: {
          args: ['-c', script, 'echo $${A}'],
          env: { A: 'echo $${A}', B: '$HOME' },
          cwd: 'echo $${A}',
        },
      },
    ]);
  });

  it('Claude Desktop, which expands no variables, keeps dollar signs literal.', async () => {
    expect(await read('claude-desktop.json')).toMatchObject({
      servers: { lamps: { args: ['lamps.mjs', '--colour=$$amber'], env: { PASS: 'pa$${ss}' } } },
      problems: [],
    });
  });

  it('Claude Code has servers for all projects and for this project, which win.', async () => {
    const { servers, problems } = await read('claude-code.json');
    expect(servers).toEqual({
      lamps: { type: 'stdio', command: 'lamps-here' },
      ferry: { type: 'sse', url: 'https://ferry.example/sse', callTimeoutMs: 600_000 },
      helped: { type: 'http', url: 'https://helped.example/mcp', headersHelper: './headers.sh --for ${X}' },
      signed: {
        type: 'http',
        url: '${SIGNED_URL:-https://signed.example}/mcp',
        oauth: {
          clientId: 'claude',
          callbackPort: 8_080,
          metadataUrl: 'https://auth.example/.well-known/openid-configuration',
          scope: 'read write',
        },
      },
    });
    expect(problems).toEqual(["claude-code:4:39: server 'lamps': repeated-name"]);
  });

  it('Windsurf denies tools with fields of its own.', async () => {
    expect(await read('windsurf.json')).toMatchObject({
      servers: {
        ferry: { ...FERRY, headers: { 'X-Key': '${env:FERRY}' }, tools: { deny: ['sink'] } },
        lamps: { command: 'lamps', args: ['--key', '${env:LAMP_KEY}'], enabled: false },
      },
      problems: [],
    });
  });

  it('Zed may write the command as an object, and may leave a server to an extension.', async () => {
    expect(await read('zed.json')).toEqual({
      servers: {
        lamps: { type: 'stdio', command: 'lamps', args: ['--all'], env: { LAMP_KEY: 'k$1' } },
        older: { type: 'stdio', command: 'older-lamps', args: ['--dim'], env: { LEVEL: '3' } },
        ferry: { ...FERRY, headers: { 'X-Harbour': 'north' } },
      },
      refused: [],
      problems: ['zed: unsupported-entry'],
      inputs: [],
    });
  });

  it('Gemini CLI uses its timeout for calls.', async () => {
    expect(await read('gemini.json')).toMatchObject({
      servers: {
        lamps: {
          args: ['--room', '$ROOM'],
          env: { LAMP_KEY: '${LAMP_KEY:-$LAMP_KEY}', LEVEL: '${LEVEL}' },
          cwd: './lamps',
          callTimeoutMs: 15_000,
          tools: { allow: ['on', 'off'], deny: ['off'] },
        },
        ferry: { ...FERRY, headers: { Authorization: 'Bearer ${FERRY:-$FERRY}' } },
        signed: {
          url: 'https://signed.example/sse',
          oauth: {
            clientId: 'gemini',
            clientSecret: '${SIGNED_SECRET:-$SIGNED_SECRET}',
            authorizationUrl: 'https://auth.example/authorize',
            tokenUrl: 'https://auth.example/token',
            scope: 'read',
            redirectUrl: 'http://localhost:7777/oauth/callback',
          },
        },
      },
      problems: [
        "gemini:27:7: server 'signed', field 'authProviderType': unknown-field",
        "gemini:17:7: server 'signed', field 'oauth': unused-field",
      ],
    });
  });

  it('Codex cannot set headers through __proto__.', async () => {
    const text =
      '[mcp_servers.a]\nurl = "https://ferry.example/mcp"\nhttp_headers = { __proto__ = { A = "b" } }';
    const { entries, refused, problems } = await parse('codex', text);
    expect({ entries, refused }).toEqual({ entries: [], refused: ['a'] });
    expect(problems.map(problemLine)).toEqual([expect.stringMatching(/__proto__.*wrong-type$/)]);
  });

  it('Codex uses seconds, and names the variables that headers come from.', async () => {
    expect(await read('codex.toml')).toEqual({
      servers: {
        lamps: {
          type: 'stdio',
          command: 'lamps',
          args: ['--cost', '$5', '$${literal}'],
          env: { LEVEL: '3' },
          inheritEnv: ['LAMP_KEY', 'LAMP_ROOM'],
          startTimeoutMs: 20_000,
          callTimeoutMs: 1_500,
          tools: { allow: ['on', 'off'], deny: ['off'] },
        },
        ferry: {
          ...FERRY,
          headers: {
            'X-Harbour': 'north',
            'X-Key': '${FERRY_KEY}',
            Authorization: 'Bearer ${FERRY_TOKEN}',
          },
        },
        signed: { ...SIGNED, oauth: { clientId: 'codex', scope: 'read write' } },
        off: { type: 'stdio', command: 'off', enabled: false },
      },
      refused: [],
      problems: ["codex:21:1: server 'ferry', field 'sea_state': unused-field"],
      inputs: [],
    });
  });

  it('opencode has commands as lists and its own syntax for references.', async () => {
    expect(await read('opencode.json')).toEqual({
      servers: {
        lamps: {
          type: 'stdio',
          command: 'npx',
          args: ['-y', 'lamps'],
          env: { LAMP_KEY: '${LAMP_KEY}', PRICE: '${5}' },
          startTimeoutMs: 5_000,
        },
        ferry: { ...FERRY, headers: { Authorization: 'Bearer ${FERRY}' }, oauth: false },
        signed: {
          ...SIGNED,
          oauth: { clientId: '${SIGNED_ID}', clientSecret: '${SIGNED_SECRET}', scope: 'read' },
        },
      },
      refused: [],
      problems: ['opencode: unsupported-entry', 'opencode: unsupported-entry'],
      inputs: [],
    });
  });

  it('opencode in its second version has its servers one level deeper.', async () => {
    expect(await read('opencode-2.json')).toEqual({
      servers: {
        lamps: {
          type: 'stdio',
          command: 'npx',
          args: ['-y', 'lamps'],
          cwd: '.',
          env: { LAMP_KEY: '${LAMP_KEY}' },
          enabled: false,
          startTimeoutMs: 20_000,
          callTimeoutMs: 40_000,
        },
        signed: { ...SIGNED, oauth: { clientId: 'opencode', scope: 'read' } },
      },
      refused: [],
      problems: [],
      inputs: [],
    });
  });

  it('Cline uses seconds.', async () => {
    expect(await read('cline.json')).toMatchObject({
      servers: {
        lamps: { command: 'lamps', callTimeoutMs: 90_000 },
        ferry: { ...FERRY, type: 'http', callTimeoutMs: 30_000 },
        older: { type: 'sse', url: 'https://older.example/sse' },
      },
      problems: [],
    });
  });

  it('Goose is YAML, and may contain extensions that only Goose can start.', async () => {
    expect(await read('goose.yaml')).toEqual({
      servers: {
        lamps: {
          type: 'stdio',
          command: 'uvx',
          args: ['lamps', '--cost=$5'],
          env: { LAMP_KEY: '${LAMP_KEY}', LEVEL: '3' },
          callTimeoutMs: 300_000,
        },
        ferry: {
          ...FERRY,
          type: 'http',
          enabled: false,
          headers: { Authorization: 'Bearer ${FERRY_TOKEN}' },
          env: { FERRY_TOKEN: '${FERRY_TOKEN}' },
          tools: { allow: ['sail'] },
        },
      },
      refused: [],
      problems: [
        "goose:32:5: server 'ferry', field 'flag': unused-field",
        'goose: unsupported-entry',
        'goose: unsupported-entry',
      ],
      inputs: [],
    });
  });
});

describe('a mistake in a field of another host', () => {
  it.each([
    ['codex', '[mcp_servers.a]\nurl = "https://a.example/"\nstartup_timout_sec = 3', 'startup_timeout_sec'],
    ['codex', '[mcp_servers.a]\nurl = "https://a.example/"\ncomand = "x"', 'command'],
    ['goose', 'extensions:\n  a:\n    type: stdio\n    cmd: x\n    enviroment: {}', 'env'],
    ['zed', '{ "context_servers": { "a": { "command": "x",\n\n"arguments": [] } } }', 'args'],
  ])('of %s is reported with the probable name.', async (kind, text, meant) => {
    const { problems } = await parse(kind, text);
    expect(problems).toMatchObject([{ severity: 'warning', message: expect.stringContaining(`'${meant}'`) }]);
  });

  it.each([
    [
      'codex',
      '[mcp_servers.a]\ncommand = "x"\nargs = "y"',
      "codex:3:1: server 'a', field 'args': wrong-type",
    ],
    [
      'codex',
      '[mcp_servers.a]\nurl = "https://a.example/"\nhttp_headers = 5',
      "codex:3:1: server 'a', field 'http_headers': wrong-type",
    ],
    [
      'codex',
      '[mcp_servers.a]\nurl = "https://a.example/"\nbearer_token_env_var = []',
      "codex:3:1: server 'a', field 'bearer_token_env_var': wrong-type",
    ],
    [
      'codex',
      '[mcp_servers.a]\ncommand = "x"\nstartup_timeout_sec = "soon"',
      "codex:3:1: server 'a', field 'startup_timeout_sec': wrong-type",
    ],
    [
      'codex',
      '[mcp_servers.a]\ncommand = "x"\ndisabled_tools = [1]',
      "codex:3:1: server 'a', field 'disabled_tools[0]': wrong-type",
    ],
    [
      'codex',
      '[mcp_servers.a]\ncommand = "x"\nenv_vars = 1',
      "codex:3:1: server 'a', field 'env_vars': wrong-type",
    ],
    ['codex', '[mcp_servers]\na = 1', "codex:2:1: server 'a': wrong-type"],
    [
      'goose',
      'extensions:\n  a:\n    type: stdio\n    cmd: [1]',
      "goose:4:11: server 'a', field 'cmd[0]': wrong-type",
    ],
    [
      'goose',
      'extensions:\n  a:\n    type: sse\n    uri: nowhere',
      "goose:4:5: server 'a', field 'uri': invalid-url",
    ],
    [
      'goose',
      'extensions:\n  a:\n    type: stdio\n    cmd: x\n    envs: 3',
      "goose:5:5: server 'a', field 'envs': wrong-type",
    ],
    [
      'goose',
      'extensions:\n  a:\n    type: stdio\n    cmd: x\n    env_keys: 3',
      "goose:5:5: server 'a', field 'env_keys': wrong-type",
    ],
    [
      'goose',
      'extensions:\n  a:\n    type: stdio\n    cmd: x\n    env_keys: [A, { toString: 1 }]',
      "goose:5:5: server 'a', field 'env_keys': wrong-type",
    ],
    [
      'zed',
      '{ "context_servers": { "a": {\n"command": { "path": 1 } } } }',
      "zed:2:14: server 'a', field 'command.path': wrong-type",
    ],
    ['zed', '{ "context_servers": { "a": {\n"command": {} } } }', "zed:1:24: server 'a': missing-target"],
    [
      'cline',
      '{ "mcpServers": { "a": { "command": "x", "timeout": -1 } } }',
      "cline:1:42: server 'a', field 'timeout': out-of-range",
    ],
    [
      'gemini',
      '{ "mcpServers": { "a": { "command": "x", "excludeTools": "y" } } }',
      "gemini:1:42: server 'a', field 'excludeTools': wrong-type",
    ],
  ])('of %s is reported under the name it has there: %j', async (kind, text, problem) => {
    const { refused, problems } = await parse(kind, text);
    expect(problems.map(problemLine)).toEqual([problem]);
    expect(refused).toEqual(['a']);
  });
});

describe('a settings file', () => {
  it.each([
    ['codex', ''],
    ['codex', 'model = "x"'],
    ['goose', '# nothing\n'],
    ['gemini', '{}'],
    ['claude-desktop', '{ "theme": "dark" }'],
  ])('of %s may have no servers: %j', async (kind, text) => {
    const parsed = await parse(kind, text);
    expect(parsed).toMatchObject({ entries: [], refused: [], problems: [] });
  });

  it('that has only servers may use the keys of another host', async () => {
    const { entries, problems } = await parse('vscode', '{ "mcpServers": { "a": { "command": "x" } } }');
    expect(problems).toEqual([]);
    expect(entries).toMatchObject([{ name: 'a' }]);
  });

  it('that has only servers must have some, or an empty list', async () => {
    const { problems } = await parse('windsurf', '{}');
    expect(problems.map(problemLine)).toEqual(['windsurf:1:1: no-servers']);
  });
});
