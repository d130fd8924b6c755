/** Values for `${input:ID}` if a user sits at the terminal. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { askForInputs } from '../../../../src/cli/prompts/ask-for-inputs.js';
import { DEFAULT_FLAGS, type Flags } from '../../../../src/cli/arguments/flags.js';
import { run } from '../../../support/run-command.js';
import { Terminal } from '../../../../src/cli/output/terminal.js';
import { useInotify } from '../../../support/inotify.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { FakeStream } from '../../../support/fake-stream.js';
import { stubUser } from '../../../support/stub-user.js';

useInotify();
useLeakCheck();

const SIZE = { columns: 100, rows: 30 };
let root: string;
let file: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-inputs-')));
  file = join(root, 'servers.json');
  mkdirSync(join(root, 'project', '.git'), { recursive: true });
  stubUser({ home: root, config: join(root, 'config') });
  vi.stubEnv('CODEX_HOME', join(root, 'codex'));
  vi.stubEnv('CLAUDE_CONFIG_DIR', join(root, 'claude'));
  vi.spyOn(process, 'cwd').mockReturnValue(join(root, 'project'));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

function write(servers: object, inputs: readonly object[], path = file): void {
  writeFileSync(path, JSON.stringify({ mcpServers: servers, inputs }));
}

function makeStdin(answers: readonly string[], stderr: FakeStream, isTTY = true) {
  const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode: () => {} });
  // Each answer comes when its question is shown: typing ahead answers nothing.
  const left = [...answers];
  const original = stderr._write.bind(stderr);
  stderr._write = (chunk, encoding, done) => {
    original(chunk, encoding, done);
    if (/\] $|: $|\(not shown\) $/.test(String(chunk)))
      setImmediate(() => void stdin.write(left.shift() ?? ''));
  };
  return stdin;
}

async function ask(answers: readonly string[], flags: Partial<Flags> = {}, servers = ['search']) {
  const stderr = new FakeStream(SIZE);
  const terminal = new Terminal(
    { stdout: new FakeStream(SIZE), stderr, env: {} },
    new AbortController().signal,
    false,
  );
  const stdin = makeStdin(answers, stderr);
  const all = { ...DEFAULT_FLAGS, config: [file], ...flags };
  const askInput = await askForInputs(all, servers, terminal, stdin);
  stdin.destroy();
  const answerOf = (id: string, server = 'search', source = file) =>
    askInput?.({ server, source, id, password: false, default: 'later' });
  return { askInput, answerOf, stderr };
}

const remote = (...ids: string[]) => ({
  url: `https://search.example/${ids.map((id) => `\${input:${id}}`).join('/')}`,
});

describe('the answer to an input', () => {
  it('is asked for with the description from the file, once for all servers of the file.', async () => {
    write({ search: remote('place'), other: remote('place') }, [
      { id: 'place', type: 'promptString', description: 'Where to look\u001B[2J\u202E' },
    ]);
    const { answerOf, stderr } = await ask(['the attic\n'], {}, ['search', 'other']);
    expect(stderr.written).toContain(`'search' (${file}) asks for: Where to look`);
    for (const steering of ['\u001B', '\u202E']) expect(stderr.written).not.toContain(steering);
    expect(stderr.written.match(/asks for/g)).toHaveLength(1);
    expect([answerOf('place'), answerOf('place', 'other')]).toEqual(['the attic', 'the attic']);
  });

  it('is the default from the file if the line is empty; the default is shown in the question.', async () => {
    write({ search: remote('place', 'depth') }, [
      { id: 'place', default: 'the cellar' },
      { id: 'depth', default: 'deep' },
    ]);
    const { answerOf, stderr } = await ask(['\n', 'flat\n']);
    expect(stderr.written).toContain('Answer [deep]: ');
    expect(stderr.written).toContain('Answer [the cellar]: ');
    expect([answerOf('depth'), answerOf('place')]).toEqual(['deep', 'flat']);
  });

  it('is not shown if it is a secret, nor is the default.', async () => {
    write({ search: remote('key', 'undeclared') }, [
      { id: 'key', password: true, default: 'proposed-secret' },
    ]);
    const { answerOf, stderr } = await ask(['typed-secret\r', 'another-secret\r']);
    expect([answerOf('key'), answerOf('undeclared')]).toEqual(['typed-secret', 'another-secret']);
    expect(stderr.written).not.toMatch(/typed|proposed-secret|another/);
    expect(stderr.written).toContain('Answer [the proposal of the file]: (not shown) ');
  });

  it.each([
    ['2\n', 'fast'],
    ['careful\n', 'careful'],
    ['\n', 'careful'],
    ['7\n1\n', 'careful'],
  ])('is chosen from a list by %j.', async (typed, chosen) => {
    write({ search: remote('mode') }, [
      {
        id: 'mode',
        type: 'pickString',
        options: ['careful', { label: 'F', value: 'fast' }],
        default: 'careful',
      },
    ]);
    const { answerOf, stderr } = await ask(typed.split(/(?<=\n)/));
    expect(answerOf('mode')).toBe(chosen);
    expect(stderr.written).toContain('    1  careful\n    2  fast\nNumber [careful]: ');
    expect(stderr.written.includes('Type a number from 1 to 2.')).toBe(typed.startsWith('7'));
  });

  it('is missing if the line is empty and there is no default.', async () => {
    write({ search: remote('place') }, [{ id: 'place' }]);
    const { answerOf } = await ask(['\n']);
    expect(answerOf('place')).toBeUndefined();
  });

  it('is the default if it is needed later.', async () => {
    write({ search: remote('place') }, [{ id: 'place' }]);
    const { answerOf } = await ask(['here\n']);
    expect(answerOf('another')).toBe('later');
  });

  it('is asked for only for servers that are needed, enabled and trusted.', async () => {
    const project = join(root, 'project', '.mcp.json');
    write(
      { search: remote('mine'), off: { ...remote('off'), enabled: false }, unneeded: remote('unneeded') },
      [],
      project,
    );
    const { askInput, stderr } = await ask([], { config: [] }, ['search', 'off']);
    expect(stderr.written).toBe('');
    expect(askInput).toBeDefined();
  });

  it('is not asked for if the output is JSON.', async () => {
    write({ search: remote('place') }, [{ id: 'place' }]);
    expect((await ask([], { json: true })).askInput).toBeUndefined();
  });
});

describe('the commands that start servers', () => {
  async function troupe(args: readonly string[], answers: readonly string[], isTTY = true) {
    const size = isTTY ? SIZE : undefined;
    const [stdout, stderr] = [new FakeStream(size), new FakeStream(size)];
    const stdin = makeStdin(answers, stderr, isTTY);
    const code = await run([...args, '--config', file, '--timeout', '5000'], {
      stdout,
      stderr,
      stdin,
      env: { TERM: 'dumb' },
    });
    stdin.destroy();
    return { code, stdout: stdout.written, stderr: stderr.written };
  }

  it.each([['check'], ['tools'], ['call', 'search/find']])(
    'ask for the inputs of their entries (%s).',
    async (...args) => {
      write({ search: { command: '${input:program}' } }, [{ id: 'program', description: 'Which program' }]);
      const { stdout, stderr } = await troupe(args, ['no-such-program-of-mine\n']);
      expect(stderr).toContain('asks for: Which program\nAnswer: ');
      expect(`${stdout}${stderr}`).toContain('command-not-found');
      expect(`${stdout}${stderr}`).not.toContain('variable-missing');
    },
    30_000,
  );

  it('report what is missing if no question is possible.', async () => {
    write({ search: { command: '${input:program}' } }, [{ id: 'program' }]);
    const { code, stdout } = await troupe(['check'], [], false);
    expect(code).toBe(1);
    expect(stdout).toContain(
      "variable-missing: Server 'search' needs an answer that is missing: ${input:program}",
    );
  });
});
