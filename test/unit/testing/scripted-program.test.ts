/** The same scripts in a child process, which can be controlled while it runs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { tool } from '../../../src/testing/ordinary-answers.js';
import {
  controlProgram,
  scriptedProgram,
  type ControlledProgram,
  type ProgramEntry,
} from '../../../src/testing/scripted-program.js';
import { fromArgument } from '../../../src/testing/check-script.js';
import type { ServerScript } from '../../../src/testing/server-script.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import type { TroupeOptions } from '../../../src/options.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { whenEmits } from '../../support/test-troupe.js';

useLeakCheck();

const LIMIT_MS = 60_000;
const BUILT = {
  main: fileURLToPath(new URL('../../../dist/bundle/src/testing/scripted-server-main.js', import.meta.url)),
};
const closed: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closed.splice(0).toReversed()) await close();
});

function made(entry: ProgramEntry, options: TroupeOptions = {}): Troupe {
  const troupe = createTroupe({ servers: { files: entry }, ...options });
  closed.push(() => troupe.close());
  return troupe;
}

async function started(entry: ProgramEntry, options: TroupeOptions = {}): Promise<Troupe> {
  const troupe = made(entry, options);
  await troupe.start();
  return troupe;
}

async function controlled(script: ServerScript = {}): Promise<ControlledProgram> {
  const program = await controlProgram(script, BUILT);
  closed.push(() => program.close());
  return program;
}

describe('a scripted program', { timeout: LIMIT_MS }, () => {
  it('runs calls as tasks, and loses them when it is killed: what became of the call is unknown.', async () => {
    const running = { statusMessage: 'half way', pollIntervalMs: 100 };
    const script: ServerScript = {
      era: 'new',
      on: { 'tools/call': { task: [{ pollIntervalMs: 0 }, running] } },
    };
    const entry = { ...scriptedProgram(script, BUILT), protocol: 'new', policy: { backoff: [50] } } as const;
    const troupe = await started(entry, { cache: false });
    const killed: (number | null)[] = [];
    const call = troupe.callTool(
      'mcp__files__echo',
      {},
      {
        onProgress: () => {
          const [{ pid } = { pid: null }] = troupe.status;
          killed.push(pid);
          process.kill(pid!, 'SIGKILL');
        },
      },
    );
    await expect(call).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      failure: { code: 'server-error', rpcCode: -32_602 },
    });
    expect(killed).toHaveLength(1);
    expect(troupe.status[0]).toMatchObject({ state: 'ready', protocolVersion: '2026-07-28' });
    expect(troupe.status[0]!.pid).not.toBe(killed[0]);
  });

  it('follows its script, as an argument or from a file.', async () => {
    const script: ServerScript = {
      tools: [tool('a')],
      on: { 'tools/call': [{ progress: 1 }, { result: { content: [] } }] },
    };
    const troupe = await started(scriptedProgram(script, BUILT));
    expect(await troupe.callTool('mcp__files__a', {})).toMatchObject({ content: [{ text: 'a {}' }] });
    expect(await troupe.callTool('mcp__files__a', {})).toEqual({ content: [] });
    const folder = mkdtempSync(join(tmpdir(), 'troupe-script-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'script.json');
    writeFileSync(file, JSON.stringify({ tools: [tool('from-a-file')] }));
    const other = await started({ command: process.execPath, args: [BUILT.main, file] });
    expect(other.tools.map((each) => each.tool)).toEqual(['from-a-file']);
  });

  it('writes to stderr, writes garbage, and ends with its exit code.', async () => {
    const troupe = await started(
      scriptedProgram(
        { start: { stderr: 'no disk', garbage: 'Welcome!', fault: 'crash', exitCode: 7 } },
        BUILT,
      ),
      { policy: { maxAttempts: 1 } },
    );
    const { error, stderrTail } = troupe.connection('files')!.status;
    expect(error).toMatchObject({ code: 'process-exited', exit: { code: 7 } });
    expect(stderrTail).toEqual(['no disk']);
  });

  it('is silent from the start, and keeps running.', async () => {
    const troupe = await started(scriptedProgram({ start: { fault: 'silent' } }, BUILT), {
      policy: { maxAttempts: 1, handshakeTimeoutMs: 1_000 },
    });
    const { error } = troupe.connection('files')!.status;
    expect(error).toMatchObject({ code: 'handshake-timeout' });
  });

  it('refuses a function in its script, and names its position.', () => {
    const script: ServerScript = { on: { 'tools/call': [{}, () => ({})] } };
    expect(() => scriptedProgram(script)).toThrow(
      new TypeError(
        "A script for a child process cannot hold a function, but 'on.tools/call[1]' is one: use an answer instead.",
      ),
    );
  });

  it('refuses a script that is too long for a command line.', () => {
    const script: ServerScript = { start: { stderr: 'ü'.repeat(70_000) } };
    expect(() => scriptedProgram(script, BUILT)).toThrow(
      'has 140,023 bytes, and an argument at most 131,071: write it into a file',
    );
  });

  it('reads its script from a file with a byte order mark, and names a file without a script.', () => {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-script-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'script.json');
    writeFileSync(file, '\uFEFF{ "stubborn": true }\r\n');
    expect(fromArgument(file)).toEqual({ stubborn: true });
    writeFileSync(file, '{ "stubborn": ');
    expect(() => fromArgument(file)).toThrow(`'${file}'`);
    expect(() => fromArgument(join(folder, 'none.json'))).toThrow(/ENOENT.*none\.json/);
    expect(() => fromArgument('{')).toThrow(Error);
  });

  it('reports in one line why it cannot use its file.', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-script-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'script.json');
    writeFileSync(file, '{ "tols": [] }');
    const entry = { command: process.execPath, args: [BUILT.main, file], policy: { maxAttempts: 1 } };
    const troupe = await started(entry);
    expect(troupe.status[0]?.error?.stderrTail).toEqual([
      "The script is invalid: 'tols': is not known here; did you mean 'tools'?",
    ]);
  });

  it('refuses an invalid script or order.', async () => {
    const wrong = { start: { fault: 'explode' } } as unknown as ServerScript;
    const why = "The script is invalid: 'start.fault': expected one of 'silent', 'crash', found 'explode'";
    expect(() => scriptedProgram(wrong)).toThrow(new TypeError(why));
    await expect(controlProgram(wrong)).rejects.toThrow(new TypeError(why));
    const program = await controlled();
    await expect(program.send(null as never)).rejects.toThrow(
      new TypeError('The order is invalid: expected an object, found null'),
    );
    await expect(program.send({ listening: true })).rejects.toThrow("'listening'");
    await expect(program.send({ fault: 'crsh' } as never)).rejects.toThrow("'fault'");
    await expect(program.send({ script: { on: { ping: { afterMs: -1 } } }, exitCode: 300 })).rejects.toThrow(
      "'exitCode': expected a whole number from 0 to 255, found a larger number; 'script.on.ping.afterMs': expected a number of at least 0",
    );
  });

  it('executes orders while it runs, in each of its processes.', async () => {
    const program = await controlled();
    await expect(program.send({ fault: 'crash' })).rejects.toThrow(Error);
    await program.send({ script: { tools: [tool('old')] } });
    const troupe = await started(program.config);
    await program.whenRunning();
    expect(troupe.tools.map((each) => each.tool)).toEqual(['old']);
    const changed = whenEmits(troupe.tools$, (tools) => tools.some((each) => each.tool === 'new'));
    await program.send({ tools: [tool('new')] });
    await changed;
    const lost = whenEmits(troupe.events$, ({ type }) => type === 'connection.lost');
    await program.send({ stderr: 'as ordered', fault: 'crash', exitCode: 3 });
    expect(await lost).toMatchObject({ failure: { exit: { code: 3 } } });
    await troupe.connection('files')!.ready();
    await program.whenRunning();
    const again = whenEmits(troupe.events$, ({ type }) => type === 'connection.lost');
    await program.send({ fault: 'crash' });
    await again;
    expect(troupe.tools.map((each) => each.tool)).toEqual(['old']);
    const initialized = program.received.filter(({ method }) => method === 'initialize');
    expect(initialized.map(({ session }) => session)).toEqual([1, 2]);
  });
});
