/** `troupe inspect` and `troupe up --inspect` in this process, without a browser. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../../../support/run-command.js';
import { platformOf } from '../../../../src/platform/platform.js';
import { isAtDesktop } from '../../../../src/cli/output/show-inspection.js';
import { SAMPLE_LINES, toBytes } from '../../../support/sample-log.js';
import { PageClient } from '../../../support/page-client.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { useInotify } from '../../../support/inotify.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { FakeStream } from '../../../support/fake-stream.js';
import { WAIT_LIMIT_MS } from '../../../support/time-limit.js';

useInotify();
useLeakCheck();
useCrashWatch();

const LIMIT = { timeout: WAIT_LIMIT_MS };
const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/#[\w-]+/;

let folder: string;
const file = (name: string): string => join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-inspect-'));
  vi.stubEnv('XDG_RUNTIME_DIR', folder);
  writeFileSync(file('off.json'), '{ "mcpServers": { "spare": { "command": "none", "disabled": true } } }');
  writeFileSync(file('log.jsonl'), toBytes(SAMPLE_LINES));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** A command that runs until its reader hangs up. */
function start(...args: readonly string[]) {
  const [stdout, stderr] = [new FakeStream(), new FakeStream()];
  const ended = run(args, { stdout, stderr, stdin: Readable.from([]), env: {} });
  const seen = async (stream: FakeStream, pattern: RegExp): Promise<string> => {
    await expect.poll(() => stream.written, LIMIT).toMatch(pattern);
    return pattern.exec(stream.written)?.[0] ?? '';
  };
  return {
    stdout,
    stderr,
    seen,
    stop: async () => {
      stdout.emit('error', new Error('EPIPE'));
      return ended;
    },
    ended,
  };
}

const registered = (): readonly string[] => {
  try {
    return readdirSync(join(folder, 'troupe')).toSorted();
  } catch {
    return [];
  }
};

describe('troupe inspect with a log', () => {
  it('serves it until it is stopped, and prints only the address on stdout.', async () => {
    const command = start('inspect', file('log.jsonl'));
    const url = await command.seen(command.stdout, ADDRESS);
    const stream = await new PageClient(url).watch();
    await stream.until(({ isOver }) => isOver);
    expect(stream.of('hello')).toMatchObject([{ mode: 'file', title: 'log.jsonl' }]);
    expect(stream.log).toBe(toBytes(SAMPLE_LINES).toString());
    expect(stream.messages.at(-1)).toMatchObject({ kind: 'log', isLast: true });
    expect((await new PageClient(url).command('files', 'connection.stop')).status).toBe(404);
    expect(command.stdout.written).toBe(`${url}\n`);
    expect(command.stderr.written).toBe('troupe: Ctrl-C stops.\n');
    expect(await command.stop()).toBe(0);
    expect(registered()).toEqual([]);
    await expect(new PageClient(url).ask('/')).rejects.toThrow('ECONNREFUSED');
  });

  it('prints the address as JSON with --json.', async () => {
    const command = start('inspect', file('log.jsonl'), '--json', '--port', '0');
    await command.seen(command.stdout, ADDRESS);
    expect(JSON.parse(command.stdout.written)).toEqual({ url: expect.stringMatching(ADDRESS) });
    expect(command.stderr.written).toBe('');
    expect(await command.stop()).toBe(0);
  });

  it('reports a file that is not a log and a port that is not available.', async () => {
    writeFileSync(file('notes.txt'), 'some notes\n');
    const notes = start('inspect', file('notes.txt'));
    expect(await notes.ended).toBe(2);
    expect(notes.stderr.written).toContain(file('notes.txt'));
    const missing = start('inspect', file('missing.jsonl'));
    expect(await missing.ended).toBe(2);
    expect(missing.stderr.written).toContain('missing.jsonl');
    const first = start('inspect', file('log.jsonl'));
    const { port } = new URL(await first.seen(first.stdout, ADDRESS));
    const second = start('inspect', file('log.jsonl'), '--port', port);
    expect(await second.ended).toBe(1);
    expect(second.stderr.written).toContain(`${port} of 127.0.0.1`);
    await first.stop();
    const wrong = start('inspect', file('log.jsonl'), '--port', '65536');
    expect(await wrong.ended).toBe(2);
    expect(wrong.stderr.written).toContain("'65536'");
  });
});

describe('troupe up --inspect', () => {
  it('is found by troupe inspect while it runs, and not afterwards.', async () => {
    const up = start('up', '--inspect', '--config', file('off.json'));
    const url = await up.seen(up.stderr, ADDRESS);
    await expect.poll(registered, LIMIT).toEqual([`${process.pid}.html`, `${process.pid}.json`]);
    const found = start('inspect', '--json');
    expect(await found.ended).toBe(0);
    expect(JSON.parse(found.stdout.written)).toEqual({ url });
    const other = start('inspect', '--pid', '1');
    expect(await other.ended).toBe(1);
    const stream = await new PageClient(url).watch();
    await stream.until((seen) => seen.log.includes('manager.start') || seen.log.includes('"running"'));
    expect(await up.stop()).toBe(0);
    await stream.until(({ isOver }) => isOver);
    expect(stream.messages.at(-1)).toEqual({ kind: 'end', why: 'The troupe was closed.' });
    expect(registered()).toEqual([]);
    const nothing = start('inspect');
    expect(await nothing.ended).toBe(1);
    expect(nothing.stderr.written).toBe(
      "troupe: no 'troupe up --inspect' of yours is running. Start one, or name a log.\n",
    );
  });

  it('accepts a port, and reports one that is not available.', async () => {
    const log = start('inspect', file('log.jsonl'));
    const { port } = new URL(await log.seen(log.stdout, ADDRESS));
    const up = start('up', `--inspect=${port}`, '--config', file('off.json'));
    expect(await up.ended).toBe(1);
    expect(up.stderr.written).toContain(`${port} of 127.0.0.1`);
    // The inspection of a log is not registered.
    const nothing = start('inspect');
    expect(await nothing.ended).toBe(1);
    await log.stop();
  });

  it('is served even if it cannot be registered, and reports that.', async () => {
    writeFileSync(file('troupe'), 'a file where the folder should be');
    const up = start('up', '--inspect', '--config', file('off.json'));
    await up.seen(up.stderr, /'troupe inspect'/);
    expect(await up.stop()).toBe(0);
  });

  it("connects Stately's inspector with --stately.", async () => {
    const up = start('up', '--stately', '--config', file('off.json'));
    const address = await up.seen(up.stderr, /http:\/\/127\.0\.0\.1:\d+\/stately#[\w-]+/);
    expect(up.stderr.written).toContain("Stately's hosted inspector, which receives all events");
    const bridge = await new PageClient(address).ask('/stately', { token: undefined });
    expect(bridge).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(await up.stop()).toBe(0);
  });
});

type Surroundings = Parameters<typeof isAtDesktop>[0];

describe('a browser is opened', () => {
  const desktop: Surroundings = { isTerminal: true, env: { DISPLAY: ':0' }, platform: platformOf('linux') };

  it.each([
    ['with X', desktop],
    ['with Wayland', { ...desktop, env: { WAYLAND_DISPLAY: 'wayland-0' } }],
    ['on macOS', { ...desktop, env: {}, platform: platformOf('darwin') }],
    ['on Windows', { ...desktop, env: {}, platform: platformOf('win32') }],
  ])('at a desktop: %s.', (_, surroundings) => {
    expect(isAtDesktop(surroundings)).toBe(true);
  });

  it.each([
    ['without a display', { ...desktop, env: {} }],
    ['with an empty DISPLAY', { ...desktop, env: { DISPLAY: '' } }],
    ['without a terminal', { ...desktop, isTerminal: false }],
    ['in CI', { ...desktop, env: { DISPLAY: ':0', CI: 'true' } }],
    ['over ssh', { ...desktop, env: { DISPLAY: ':10', SSH_CONNECTION: 'a b' } }],
  ])('not %s.', (_, surroundings) => {
    expect(isAtDesktop(surroundings)).toBe(false);
  });
});
