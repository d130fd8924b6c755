import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../../../support/run-command.js';
import { useInotify } from '../../../support/inotify.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { userFolder } from '../../../../src/storage/folders.js';
import { FakeStream } from '../../../support/fake-stream.js';
import { stubUser } from '../../../support/stub-user.js';
import { WAIT_LIMIT_MS } from '../../../support/time-limit.js';

const MISSING = 'no-such-command-of-the-project';
const SIZE = { columns: 100, rows: 30 };

useInotify();
useLeakCheck();

/** Commands that a test may have left running; each ends when its reader hangs up. */
const running: FakeStream[] = [];
const ends: Promise<unknown>[] = [];
let root: string;
let project: string;

// Imported beforehand, so that no test waits for a file to load.
beforeAll(() =>
  Promise.all([
    import('../../../../src/cli/commands/up-command.js'),
    import('../../../../src/cli/commands/trust-command.js'),
  ]),
);

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-trust-')));
  project = join(root, 'work', 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  mkdirSync(join(project, 'src'));
  stubUser({ home: root, config: join(root, 'config') });
  vi.stubEnv('CODEX_HOME', join(root, 'codex'));
  vi.stubEnv('CLAUDE_CONFIG_DIR', join(root, 'claude'));
  vi.spyOn(process, 'cwd').mockReturnValue(join(project, 'src'));
  write({ lamp: { command: MISSING, args: ['--on'], env: { KEY: '${KEY}' } } });
});

afterEach(async () => {
  for (const stdout of running.splice(0)) stdout.emit('error', new Error('gone'));
  await Promise.all(ends.splice(0));
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

function write(servers: object, file = '.mcp.json'): void {
  writeFileSync(join(project, file), JSON.stringify({ mcpServers: servers }));
}

/** On a terminal if there are answers to give, otherwise with pipes. */
function start(args: readonly string[], answers?: string) {
  const size = answers === undefined ? undefined : SIZE;
  const stdout = new FakeStream(size);
  const stderr = new FakeStream(size);
  const stdin = Object.assign(new PassThrough(), { isTTY: answers !== undefined });
  if (answers !== undefined) stdin.write(answers);
  running.push(stdout);
  const ended = run(args, { stdout, stderr, stdin, env: { TERM: 'xterm' } });
  ends.push(ended);
  return { stdout, stderr, stdin, ended };
}

async function troupe(args: readonly string[], answers?: string) {
  const { stdout, stderr, ended } = start(args, answers);
  return { code: await ended, stdout: stdout.written, stderr: stderr.written };
}

describe('a trusted entry that cannot be read', () => {
  it('is reported once while its server waits to be trusted again.', async () => {
    await troupe(['trust', 'lamp'], 'y\n');
    const folder = join(await userFolder('config'), 'trusted');
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), '');
    const { code, stdout, stderr } = await troupe(['check']);
    expect([code, stdout]).toEqual([1, expect.stringContaining('needs trust')]);
    expect(
      stderr.match(/A trusted entry could not be read: .* cannot be understood as a trusted entry/g),
    ).toHaveLength(1);
  });
});

describe('troupe trust', () => {
  it('shows what would run, asks, and remembers a yes until the entry changes.', async () => {
    const trusted = await troupe(['trust', 'lamp'], 'y\n');
    expect(trusted).toMatchObject({ code: 0, stdout: 'lamp: trusted, until its entry changes\n' });
    expect(trusted.stderr).toContain(
      `    program: ${MISSING} (not found in your PATH)\n    arguments: --on\n`,
    );
    expect(trusted.stderr).toContain('    reads of your variables: KEY\n    sets variables: KEY = ${KEY}\n');
    expect(trusted.stderr.endsWith('Trust it? [y/N] ')).toBe(true);

    expect(await troupe(['trust', 'lamp'])).toEqual({
      code: 0,
      stdout: 'lamp: needs no trust, or has it already\n',
      stderr: '',
    });
    const { stdout } = await troupe(['config', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ servers: { lamp: { trusted: true } } });

    write({ lamp: { command: MISSING, args: ['--on'], env: { LD_PRELOAD: './evil.so' } } });
    const changed = await troupe(['trust', 'lamp'], '\n');
    expect(changed.code).toBe(1);
    expect(changed.stdout).toBe('lamp: not trusted\n');
    expect(changed.stderr).toContain('sets variables: LD_PRELOAD');
  });

  it('without a terminal asks nothing: it refuses, unless --yes is given.', async () => {
    const refused = await troupe(['trust', 'lamp']);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('troupe: cannot ask without a terminal; use --yes');
    const forced = await troupe(['trust', 'lamp', '--yes', '--json']);
    expect([forced.code, JSON.parse(forced.stdout)]).toEqual([0, [{ server: 'lamp', result: 'trusted' }]]);
    expect(forced.stderr).toContain(`program: ${MISSING}`);
  });

  it('asks about several servers in turn, and checks their names first.', async () => {
    write({ lamp: { command: MISSING }, door: { command: MISSING }, bell: { command: MISSING } });
    expect(await troupe(['trust', 'lamp', 'bel', '--yes'])).toMatchObject({ code: 2, stdout: '' });
    const { stdin, stdout, stderr, ended } = start(['trust', 'door', 'lamp'], 'y\n');
    stdin.end();
    expect([await ended, stdout.written]).toEqual([
      1,
      'door: trusted, until its entry changes\nlamp: not trusted\n',
    ]);
    expect(stderr.written.match(/Trust it\?/g)).toHaveLength(2);
    const both = await troupe(['trust', 'door', 'door', 'lamp', '--yes', '--json']);
    expect([both.code, JSON.parse(both.stdout)]).toEqual([
      0,
      [
        { server: 'door', result: 'not-needed' },
        { server: 'lamp', result: 'trusted' },
      ],
    ]);
  });

  it('asks about every server that waits for trust with --all, and revokes all of this project.', async () => {
    write({ lamp: { command: MISSING }, door: { command: MISSING }, bell: { command: MISSING } });
    await troupe(['trust', 'lamp', '--yes']);
    expect((await troupe(['trust', '--all', '--yes'])).stdout.split('\n').toSorted()).toEqual([
      '',
      'bell: trusted, until its entry changes',
      'door: trusted, until its entry changes',
    ]);
    expect(await troupe(['trust', '--all', '--yes'])).toMatchObject({ code: 0, stdout: '' });
    expect((await troupe(['trust', '--all', '--revoke'])).stdout.split('\n').toSorted()).toEqual([
      '',
      'bell: no longer trusted',
      'door: no longer trusted',
      'lamp: no longer trusted',
    ]);
    expect(await troupe(['trust', 'lamp', '--all'])).toMatchObject({ code: 2, stdout: '' });
  });

  it('asks even with --json, and prints only JSON on stdout.', async () => {
    const declined = await troupe(['trust', 'lamp', '--json'], 'n\n');
    expect([declined.code, JSON.parse(declined.stdout)]).toEqual([
      1,
      [{ server: 'lamp', result: 'declined' }],
    ]);
  });

  it('revokes trust, earlier versions of the entry included, from a subfolder of the project.', async () => {
    await troupe(['trust', 'lamp', '--yes']);
    const before = { lamp: { command: MISSING, args: ['--on'], env: { KEY: '${KEY}' } } };
    write({ lamp: { command: MISSING } });
    await troupe(['trust', 'lamp', '--yes']);
    const listed = await troupe(['trust', '--list']);
    expect(listed).toEqual({ code: 0, stdout: `lamp  .mcp.json in ${project}\n`, stderr: '' });
    expect(await troupe(['trust', 'lamp', '--revoke'])).toMatchObject({
      code: 0,
      stdout: 'lamp: no longer trusted\n',
    });
    write(before);
    expect(JSON.parse((await troupe(['config', '--json'])).stdout)).toMatchObject({
      servers: { lamp: { trusted: false } },
    });
    expect((await troupe(['trust', 'lamp', '--revoke'])).stdout).toBe('lamp: was not trusted\n');
    expect(await troupe(['trust', '--list'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'nothing is trusted\n',
    });
  });

  it('lists trusted entries as JSON.', async () => {
    await troupe(['trust', 'lamp', '--yes']);
    const { trusted } = JSON.parse((await troupe(['trust', '--list', '--json'])).stdout) as {
      trusted: unknown;
    };
    expect(trusted).toEqual([
      { hash: expect.stringMatching(/^[0-9a-f]{64}$/), server: 'lamp', source: '.mcp.json', folder: project },
    ]);
    expect(JSON.parse((await troupe(['trust', 'boat', '--list', '--json'])).stdout)).toEqual({
      trusted: [],
    });
  });

  it('asks about the project’s entry if the user has one of the same name, which is used until then.', async () => {
    mkdirSync(join(root, '.cursor'));
    writeFileSync(
      join(root, '.cursor', 'mcp.json'),
      JSON.stringify({ mcpServers: { lamp: { command: `${MISSING}-mine` } } }),
    );
    const usedOf = async () => {
      const { stdout } = await troupe(['config', '--json']);
      return (JSON.parse(stdout) as { servers: { lamp: { source: string } } }).servers.lamp.source;
    };
    expect(await usedOf()).toBe(join('~', '.cursor', 'mcp.json'));
    expect((await troupe(['trust', 'lamp', '--yes'])).stderr).toContain('arguments: --on');
    expect(await usedOf()).toBe('.mcp.json');
  });

  it.each<[story: string, args: readonly string[], message: RegExp]>([
    ['no server', [], /^troupe: name the servers to trust, or give --all; --list shows what is trusted\n/],
    ['an unknown name', ['lmap'], /^troupe: no server is called 'lmap'; did you mean 'lamp'\?\n/],
    ['an entry that is wrong', ['wrong'], /^troupe: the entry of 'wrong' cannot be used: expected /],
    ['conflicting options', ['lamp', '--yes', '--revoke'], /cannot be used with option/],
  ])('reports what is wrong: %s.', async (_, args, message) => {
    write({ lamp: { command: MISSING }, wrong: { command: 5 } });
    const { code, stdout, stderr } = await troupe(['trust', ...args]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
  });
});

describe('a command whose server waits to be trusted', () => {
  it.each([
    ['check', ['check']],
    ['tools', ['tools']],
    ['call', ['call', 'lamp/on']],
  ])('prints how to trust it: %s.', async (_, args) => {
    const { code, stdout, stderr } = await troupe(args);
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`).toContain('✗ lamp  needs trust; to trust it: troupe trust lamp\n');
    expect(`${stdout}${stderr}`).toContain(`    program: ${MISSING}\n`);
  });

  it('starts the server once it is trusted.', async () => {
    vi.stubEnv('KEY', 'secret-1');
    await troupe(['trust', 'lamp', '--yes']);
    const { code, stdout } = await troupe(['check']);
    expect([code, stdout]).toEqual([1, expect.stringContaining('command-not-found')]);
  });
});

describe('troupe up', () => {
  /** Runs until the output matches; then the reader of stdout hangs up, which ends the command. */
  async function upUntil(seen: RegExp, answers?: string, more: readonly string[] = []) {
    const { stdout, stderr, ended } = start(['up', '--no-color', ...more], answers);
    await vi.waitFor(() => expect(stdout.written).toMatch(seen), { timeout: WAIT_LIMIT_MS });
    stdout.emit('error', new Error('gone'));
    expect(await ended).toBe(0);
    return { stdout: stdout.written, stderr: stderr.written };
  }

  it('asks about each waiting server, one at a time, before the table appears.', async () => {
    vi.stubEnv('KEY', 'secret-1');
    write({ lamp: { command: MISSING, env: { KEY: '${KEY}' } }, boat: { command: MISSING } });
    const { stdout, stderr, stdin, ended } = start(['up', '--no-color'], '');
    const asked = (): number => stderr.written.split('Trust it? [y/N] ').length - 1;
    await vi.waitFor(() => expect(asked()).toBe(1), { timeout: WAIT_LIMIT_MS });
    stdin.write('y\n');
    await vi.waitFor(() => expect(asked()).toBe(2), { timeout: WAIT_LIMIT_MS });
    expect(stdout.written).toBe('');
    stdin.write('\n');
    await vi.waitFor(() => expect(stdout.written).toMatch(/boat +waiting for trust.*troupe trust boat/s), {
      timeout: WAIT_LIMIT_MS,
    });
    await vi.waitFor(() => expect(stdout.written).toMatch(/lamp +failed/), { timeout: WAIT_LIMIT_MS });
    stdout.emit('error', new Error('gone'));
    expect(await ended).toBe(0);
    expect(asked()).toBe(2);
  });

  it('asks nothing with --json, and nothing about disabled or trusted entries.', async () => {
    const json = await upUntil(/"connection.trustRequired"/, '', ['--json']);
    expect(json.stderr).toBe('');
    write({ lamp: { command: MISSING }, off: { command: MISSING, enabled: false } });
    await troupe(['trust', 'lamp', '--yes']);
    expect((await upUntil(/lamp +failed/, '')).stderr).toBe('');
  });

  it('without a terminal prints how to trust, and asks nothing.', async () => {
    const { stdout, stderr } = await upUntil(/needs trust/);
    expect(stdout).toMatch(/Z lamp needs trust; to trust it: troupe trust lamp\n/);
    expect(stderr).toBe('');
  });

  it('starts a server that is trusted in the meantime.', async () => {
    vi.stubEnv('KEY', 'secret-1');
    const { stdout, ended } = start(['up']);
    await vi.waitFor(() => expect(stdout.written).toContain('needs trust'), { timeout: WAIT_LIMIT_MS });
    await troupe(['trust', 'lamp', '--yes']);
    await vi.waitFor(() => expect(stdout.written).toContain('lamp failed: command-not-found'), {
      timeout: WAIT_LIMIT_MS,
    });
    stdout.emit('error', new Error('gone'));
    expect(await ended).toBe(0);
  });
});
