/**
 * `troupe` in a folder that somebody else wrote: nothing of the folder is run, whatever the user's own servers are, and
 * nothing of an entry that nobody trusted reaches the system.
 */
import { execFile, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { MAIN, runTroupe } from '../../support/troupe-process.js';

useLeakCheck();
const run = promisify(execFile);
const PARROT = fileURLToPath(new URL('../../support/quick-server.mjs', import.meta.url));
const INDEX = fileURLToPath(new URL('../../../dist/bundle/src/index.js', import.meta.url));
const UNSET = { XDG_CONFIG_HOME: '', CODEX_HOME: '', CLAUDE_CONFIG_DIR: '', APPDATA: '' };

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-hostile-')));
  put('home/keep', '');
  put('repo/.git/HEAD', '');
  put('repo/package.json', '{ "name": "x", "version": "1.0.0" }');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (...parts: readonly string[]): string => join(root, ...parts);

function put(name: string, content: object | string, mode?: number): string {
  mkdirSync(dirname(at(name)), { recursive: true });
  writeFileSync(at(name), typeof content === 'string' ? content : JSON.stringify(content), { mode });
  return at(name);
}

/** A server that says where it starts. */
const TELLING = `import { writeFileSync } from 'node:fs';
writeFileSync(process.argv[2], JSON.stringify({ cwd: process.cwd(), pwd: process.env.PWD }));
await import(${JSON.stringify(pathToFileURL(PARROT).href)});`;

function reporting(file = 'seen.json', more: object = {}): object {
  return { command: process.execPath, args: [put('reporting.mjs', TELLING), at(file)], ...more };
}

const seen = (file = 'seen.json') =>
  JSON.parse(readFileSync(at(file), 'utf8')) as { cwd: string; pwd?: string };

const PWNED = (): string => at('PWNED');
const marking = (): string => `require('fs').writeFileSync(${JSON.stringify(PWNED())}, '')`;
const ofUser = (servers: object) => put('home/.config/troupe/mcp.json', { mcpServers: servers });

function check(...args: readonly string[]) {
  return checkWith({}, ...args);
}

function checkWith(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const home = at('home');
  return runTroupe(['check', '--attempts', '1', ...args], {
    cwd: at('repo'),
    env: { ...UNSET, HOME: home, USERPROFILE: home, npm_config_cache: at('npm'), ...env },
  });
}

/** What a repository can hold that a package runner or an interpreter picks up from its working folder. */
function plant(): void {
  put('repo/pwn.cjs', marking());
  put('repo/pwn.sh', `#!/bin/sh\ntouch ${PWNED()}\n`, 0o755);
  put('repo/.npmrc', 'node-options=--require ./pwn.cjs\nscript-shell=./pwn.sh\n');
  put('repo/red_module.py', `open(${JSON.stringify(PWNED())}, 'w').close()\n`);
  put('repo/node_modules/red-server/package.json', {
    name: 'red-server',
    version: '9.9.9',
    bin: { 'red-server': './pwn.cjs' },
  });
  put('repo/node_modules/red-server/pwn.cjs', `#!/usr/bin/env node\n${marking()}\n`, 0o755);
  mkdirSync(at('repo/node_modules/.bin'), { recursive: true });
  symlinkSync('../red-server/pwn.cjs', at('repo/node_modules/.bin/red-server'));
  put('repo/bin/red-server', readFileSync(at('repo/pwn.sh'), 'utf8'), 0o755);
  put('repo/sitecustomize.py', `open(${JSON.stringify(PWNED())}, 'w').close()\n`);
}

describe('a server of the user, checked in a hostile folder', () => {
  it.each<[what: string, entry: object]>([
    ['npx, with a package of the folder', { command: 'npx', args: ['--no-install', 'red-server'] }],
    ['npx, with the settings of the folder', { command: 'npx', args: ['-c', 'node --version'] }],
    ['npm exec', { command: 'npm', args: ['exec', '--no', 'red-server'] }],
    ['python -m', { command: 'python3', args: ['-m', 'red_module'] }],
    ['a relative command', { command: './bin/red-server' }],
    ['a relative command without a dot', { command: 'bin/red-server' }],
    ['a relative script', { command: process.execPath, args: ['pwn.cjs'] }],
    ['a relative preload', { command: process.execPath, args: ['--require', './pwn.cjs', '-e', '0'] }],
    ['a shell', { command: 'sh', args: ['-c', './pwn.sh'] }],
    ['a program for headers', { url: 'http://127.0.0.1:9/', headersHelper: './pwn.sh' }],
    ['a folder of its own, relative', { command: './red-server', cwd: 'bin' }],
  ])('runs nothing of it: %s', async (_, entry) => {
    plant();
    ofUser({ one: entry });
    await check('--timeout', '8000');
    expect(existsSync(PWNED())).toBe(false);

    // The same command line does run it where it starts in the folder: the test could have failed.
    ofUser({
      one: { ...entry, ...('command' in entry && { cwd: 'cwd' in entry ? at('repo/bin') : at('repo') }) },
    });
    if (!('url' in entry)) {
      await check('--timeout', '8000');
      expect(existsSync(PWNED())).toBe(true);
    }
  });

  it('runs nothing of it if the search path has a relative folder.', async () => {
    plant();
    ofUser({ one: { command: 'red-server' } });
    const PATH = ['node_modules/.bin', 'bin', '', '.', process.env['PATH']].join(':');
    await checkWith({ PATH }, '--timeout', '8000');
    expect(existsSync(PWNED())).toBe(false);
  });

  it('starts at home, with or without the variables of the host, unless it names a folder.', async () => {
    ofUser({
      one: reporting('one.json'),
      two: reporting('two.json', { inheritEnv: true }),
      three: reporting('three.json', { cwd: '${workspaceFolder}' }),
      four: reporting('four.json', { cwd: at('home/..') }),
    });
    const { code } = await checkWith({ PWD: at('repo') });
    expect(code).toBe(0);
    expect(seen('one.json')).toEqual({ cwd: at('home') });
    expect(seen('two.json')).toEqual({ cwd: at('home'), pwd: at('home') });
    expect(seen('three.json').cwd).toBe(at('repo'));
    expect(seen('four.json').cwd).toBe(root);
  });

  it.each<[source: string, make: () => readonly string[]]>([
    [
      'another host',
      () => {
        put('home/.cursor/mcp.json', { mcpServers: { one: reporting() } });
        return [];
      },
    ],
    [
      'the project’s own section in the user’s file',
      () => {
        const projects = { [at('repo')]: { mcpServers: { one: reporting() } } };
        put('home/.claude.json', { mcpServers: {}, projects });
        return [];
      },
    ],
    [
      'the command line',
      () => {
        put('reporting.mjs', TELLING);
        return ['--add', `one=${process.execPath} ${at('reporting.mjs')} ${at('seen.json')}`];
      },
    ],
  ])('starts at home if it is from %s.', async (_, make) => {
    const { code } = await check(...make());
    expect(code).toBe(0);
    expect(seen().cwd).toBe(at('home'));
  });

  it('starts in the folder of its file if that was named and is elsewhere, and else in the working folder.', async () => {
    const file = put('elsewhere/mcp.json', { mcpServers: { one: reporting() } });
    expect((await check('--config', file)).code).toBe(0);
    expect(seen().cwd).toBe(at('elsewhere'));
    put('elsewhere/.vscode/mcp.json', { servers: { one: reporting() } });
    await check('--config', at('elsewhere/.vscode/mcp.json'));
    expect(seen().cwd).toBe(at('elsewhere'));
    put('repo/sub/mcp.json', { mcpServers: { one: reporting() } });
    await check('--config', 'sub/mcp.json');
    expect(seen().cwd).toBe(at('repo'));
    symlinkSync(file, at('repo/link.json'));
    await check('--config', 'link.json');
    expect(seen().cwd).toBe(at('elsewhere'));
  });

  it('starts at home if it is in the code of the host.', async () => {
    put(
      'host.mjs',
      `import { createTroupe } from ${JSON.stringify(pathToFileURL(INDEX).href)};
       const troupe = createTroupe({ servers: { one: ${JSON.stringify(reporting())} }, cache: false });
       await troupe.start(); await troupe.add('two', ${JSON.stringify(reporting('two.json'))}); await troupe.settled(); await troupe.close();`,
    );
    const env = { ...process.env, ...UNSET, HOME: at('home') };
    await run(process.execPath, [at('host.mjs')], { cwd: at('repo'), env });
    expect([seen().cwd, seen('two.json').cwd]).toEqual([at('home'), at('home')]);
  });

  it('starts outside of the repository if that is the home folder.', async () => {
    put('repo/.cursor/mcp.json', { mcpServers: { one: reporting() } });
    const added = `two=${process.execPath} ${at('reporting.mjs')} ${at('two.json')}`;
    const { stdout } = await checkWith(
      { HOME: at('repo'), USERPROFILE: at('repo') },
      '--add',
      added,
      '--discover',
    );
    expect(stdout).toMatch(/✗ one +needs trust/);
    expect(existsSync(at('seen.json'))).toBe(false);
    expect(seen('two.json').cwd).toBe('/');
  });

  it('gets a hint if it misses a file of the working folder.', async () => {
    put('repo/server.mjs', TELLING);
    ofUser({ one: { command: process.execPath, args: ['server.mjs'] } });
    const { stdout } = await check();
    expect(stdout).toContain('"cwd": "${workspaceFolder}"');
    expect(stdout).toContain(`It starts in ${at('home')}.`);
    ofUser({ one: { command: process.execPath, args: ['-e', 'process.exit(3)'] } });
    expect((await check()).stdout).not.toContain('workspaceFolder');
  });
});

describe('a file of the project that a variable makes the user’s', () => {
  it.each<[variable: string, value: string, file: string, text: (entry: object) => string]>([
    [
      'CLAUDE_CONFIG_DIR',
      '.claude',
      '.claude/.claude.json',
      (one) => JSON.stringify({ mcpServers: { one } }),
    ],
    [
      'CODEX_HOME',
      'codex',
      'codex/config.toml',
      (one) =>
        `[mcp_servers.one]\ncommand = ${JSON.stringify((one as { command: string }).command)}\nargs = ${JSON.stringify((one as { args: string[] }).args)}\n`,
    ],
    [
      'XDG_CONFIG_HOME',
      '.config',
      '.config/zed/settings.json',
      (one) => JSON.stringify({ context_servers: { one: { source: 'custom', ...one } } }),
    ],
  ])(
    '%s is ignored if it is relative, and the project’s if it leads into the project.',
    async (variable, value, file, text) => {
      put(`repo/${file}`, text(reporting()));
      ofUser({ other: reporting('other.json') });
      const relative = await checkWith({ [variable]: value });
      expect(relative.stderr).toContain(`${variable}: is ignored`);
      expect(relative.stdout).not.toMatch(/one /);
      const absolute = await checkWith({ [variable]: at('repo', value) });
      expect(absolute.stdout).toMatch(/✗ one +needs trust/);
      expect(existsSync(at('seen.json'))).toBe(false);
    },
  );

  it('cannot trust itself if Troupe’s own folder is in the project.', async () => {
    put('repo/.mcp.json', { mcpServers: { one: reporting() } });
    const env = { XDG_CONFIG_HOME: at('repo/.config'), HOME: at('home'), USERPROFILE: at('home') };
    const options = { cwd: at('repo'), env: { ...UNSET, ...env } };
    // The store is filled from outside of the project.
    const outside = { cwd: root, env: { ...UNSET, ...env } };
    const { stdout: listed } = await runTroupe(['config', '--json'], options);
    expect(listed).toContain('one');
    await run(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `import { createFileTrustStore, discoverServers } from ${JSON.stringify(pathToFileURL(INDEX).href)};
         const { servers } = await discoverServers({ discover: { cwd: ${JSON.stringify(at('repo'))}, user: false } });
         for (const { trustRequest } of servers) await createFileTrustStore().trust(trustRequest);`,
      ],
      { ...outside, env: { ...process.env, ...outside.env } },
    );
    const { stdout, stderr } = await runTroupe(['check'], options);
    expect(stdout).toMatch(/✗ one +needs trust/);
    expect(stderr.split('is inside the project')).toHaveLength(2);
    expect(existsSync(at('seen.json'))).toBe(false);
  });
});

describe('a project file with very many entries', () => {
  it.each([4_000, 20_000])('is read up to a limit, and says so: %i', async (count) => {
    const entries = Array.from({ length: count }, (_, n) => [`u${n}`, { url: `http://127.0.0.1:1/${n}` }]);
    put('repo/.mcp.json', { mcpServers: Object.fromEntries(entries) });
    const { stdout, stderr } = await check('--json');
    expect((JSON.parse(stdout) as { servers: unknown[] }).servers).toHaveLength(256);
    expect(stderr).toContain(`${count - 256} of its servers are left out`);
  });
});

const hasStrace = spawnSync('strace', ['-V'], { stdio: 'ignore' }).status === 0;

const UNTRACED = hasStrace ? '' : ' (strace is not installed: system calls are not counted)';

describe(`an entry that nobody has trusted${UNTRACED}`, () => {
  /** Appears in every part of every entry, and nowhere else. */
  const MARK = 'zebrafinch';

  const ENTRIES = {
    program: {
      command: `./${MARK}-a`,
      args: [`${MARK}-b.mjs`, `/srv/${MARK}-c`],
      cwd: `${MARK}-d`,
      env: { NODE_OPTIONS: `--require /srv/${MARK}-e`, PATH: `/srv/${MARK}-f` },
      envFile: `${MARK}-g.env`,
    },
    bare: { command: `${MARK}-h` },
    absolute: { command: `/srv/${MARK}-i`, args: [`\${userHome}/${MARK}-j`] },
    lazy: { command: `${MARK}-k`, start: 'lazy' },
    remote: { url: `http://${MARK}-l.example/mcp`, headers: { X: '${SECRET}' } },
    helped: { url: `http://${MARK}-m.example/mcp`, headersHelper: `./${MARK}-n` },
    routed: {
      url: `https://${MARK}-o.example/mcp`,
      proxy: `http://${MARK}-p.example:1`,
      ca: `/srv/${MARK}-q.pem`,
      cert: `${MARK}-r.pem`,
      key: `${MARK}-s.pem`,
    },
    socket: { url: `unix:///run/${MARK}-t.sock#/mcp` },
    signIn: {
      url: `https://${MARK}-u.example/mcp`,
      oauth: { clientId: 'c', metadataUrl: `https://${MARK}-v.example/m` },
    },
    numbered: { url: 'http://198.51.100.77:4711/mcp' },
  };

  it.each<[command: readonly string[]]>([
    [['check', '--timeout', '2000']],
    [['check', '--json']],
    [['config']],
    [['tools', '--timeout', '2000']],
    [['trust', '--list']],
    [['trust', 'program', '--yes']],
    [['call', 'mcp__remote__x', '--timeout', '2000']],
    [['login', 'remote']],
    [['logout', 'remote']],
    [['serve', '--bare']],
  ])('is named in no system call of troupe %s', async (command) => {
    put('repo/.mcp.json', { mcpServers: ENTRIES });
    const trace = put('trace', '');
    const env = { ...process.env, ...UNSET, HOME: at('home'), USERPROFILE: at('home'), SECRET: 'secret-1' };
    // The entry is read from its file and shown: reading and writing say nothing about what is looked up.
    const strace = ['strace', '-f', '-qq', '-s', '4096', '-e', 'trace=%file,%process,%network', '-o', trace];
    const [program = '', ...words] = [...(hasStrace ? strace : []), process.execPath, MAIN, ...command];
    const options = { cwd: at('repo'), env, maxBuffer: 64 * 1024 * 1024 };
    const { stdout } = (await run(program, words, options).catch((error: unknown) => error)) as {
      readonly stdout: string;
    };
    expect(stdout).not.toMatch(/secret-1|[1-9]\d* of \d+ ready/);
    const calls = readFileSync(trace, 'utf8').split('\n');
    expect(calls.length > 100).toBe(hasStrace);
    const naming = calls.filter((call) => call.includes(MARK) || call.includes('198.51.100.77'));
    expect(naming).toEqual([]);
    expect(calls.filter((call) => /connect\(\d+, \{sa_family=AF_INET/.test(call))).toEqual([]);
  });
});
