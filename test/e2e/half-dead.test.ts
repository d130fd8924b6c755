/**
 * Servers that are neither alive nor dead, from the view of a host: the outcome of a call, the recovery of the
 * connection, and the end of the old process. `test/unit/transports/stdio` tests the transports alone.
 */
import { filter, firstValueFrom } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { createTroupe, type ServerConfig, type ServerSettings, type Troupe } from '../../src/index.js';
import { readProcesses } from '../../src/transports/stdio/process-table.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';

useLeakCheck();
useCrashWatch();

/** A small server. A script adds its tools: `tools.name = (answer, args) => …`, `answer(text)`. */
const PRELUDE = `
  const { spawn } = require('node:child_process');
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
  const tools = { pid: (answer) => answer(String(process.pid)) };
  const results = {
    initialize: ({ protocolVersion }) =>
      ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'half-dead', version: '1' } }),
    'tools/list': () => ({ tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) }),
    ping: () => ({}),
  };
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'tools/call') {
      const answer = (text) => send({ id, result: { content: [{ type: 'text', text }] } });
      return tools[params.name](answer, params.arguments);
    }
    if (id !== undefined && results[method]) send({ id, result: results[method](params) });
  });
`;

const SETTINGS: ServerSettings = {
  policy: { backoff: [10], stop: { drainMs: 50, stdinEndMs: 150, termMs: 150 } },
};

const server = (source: string, settings: ServerSettings = {}): ServerConfig => ({
  command: process.execPath,
  args: ['-e', PRELUDE + source],
  ...SETTINGS,
  ...settings,
});

/** Ignores the end of its input and SIGTERM. */
const DEAF = `process.on('SIGTERM', () => {}); process.on('SIGHUP', () => {}); setInterval(() => {}, 1_000);`;

const call = async (troupe: Troupe, tool: string, args: object = {}): Promise<string> => {
  const { content } = await troupe.connection('a')!.callTool(tool, args);
  const [first] = content as readonly { text: string }[];
  return first?.text ?? '';
};

const whenReady = (troupe: Troupe, generation: number): Promise<unknown> =>
  firstValueFrom(
    troupe.events$.pipe(
      filter((event) => event.type === 'connection.ready' && event.generation === generation),
    ),
  );

const lives = (pid: number | string): boolean => readProcesses()!.some((each) => each.pid === Number(pid));

const open = new Set<Troupe>();
afterEach(async () => {
  await Promise.all([...open].map((troupe) => troupe.close()));
  open.clear();
});

async function started(config: ServerConfig): Promise<Troupe> {
  const troupe = createTroupe({ servers: { a: config } });
  open.add(troupe);
  const { failed } = await troupe.start();
  expect(failed).toEqual([]);
  await troupe.connection('a')!.ready();
  return troupe;
}

describe('a half-dead server', () => {
  it('that closes its stdout but keeps running is killed and replaced', async () => {
    const troupe = await started(
      server(`${DEAF} tools.mute = () => { process.stdout.end(); require('node:fs').closeSync(1); };`),
    );
    const pid = await call(troupe, 'pid');
    const back = whenReady(troupe, 2);
    await expect(call(troupe, 'mute')).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      failure: { code: 'stdout-closed' },
    });
    await back;
    expect(lives(pid)).toBe(false);
    expect(await call(troupe, 'pid')).not.toBe(pid);
  }, 60_000);

  it('that has exited while a grandchild holds its pipes is replaced after the grandchild was killed', async () => {
    const troupe = await started(
      server(`tools.helper = (answer) => {
        const helper = spawn('sleep', ['600'], { stdio: 'inherit' });
        helper.unref();
        answer(String(helper.pid));
      };
      tools.die = () => process.exit(9);`),
    );
    const helper = await call(troupe, 'helper');
    expect(lives(helper)).toBe(true);
    const back = whenReady(troupe, 2);
    await expect(call(troupe, 'die')).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      failure: { code: 'process-exited', exit: { code: 9 } },
    });
    await back;
    expect(lives(helper)).toBe(false);
    expect(troupe.status).toMatchObject([{ generation: 2, lastExit: { code: 9, signal: null } }]);
  }, 60_000);

  it('that ignores the end of its input and SIGTERM can be restarted and closed', async () => {
    const troupe = await started(server(DEAF));
    const first = await call(troupe, 'pid');
    await troupe.connection('a')!.restart();
    const second = await call(troupe, 'pid');
    expect([lives(first), lives(second)]).toEqual([false, true]);
    await troupe.close();
    expect(lives(second)).toBe(false);
  }, 60_000);

  it.each([
    ['that keeps running', `"$0" "$@"; exit $?`],
    ['that runs it in the background', `exec 3<&0; "$0" "$@" <&3 & wait $!`],
    ['that runs another shell', `sh -c '"$0" "$@"; true' "$0" "$@"; true`],
  ])(
    'under a shell %s is replaced when it dies, and closed with the shell',
    async (_, line) => {
      const source = `${PRELUDE} tools.die = () => process.exit(7);`;
      const troupe = await started({
        command: 'sh',
        args: ['-c', line, process.execPath, '-e', source],
        ...SETTINGS,
      });
      const pid = await call(troupe, 'pid');
      const shell = troupe.status[0]?.pid ?? 0;
      expect(Number(pid)).not.toBe(shell);
      const back = whenReady(troupe, 2);
      await expect(call(troupe, 'die')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
      await back;
      expect([lives(pid), lives(shell)]).toEqual([false, false]);
      const next = await call(troupe, 'pid');
      await troupe.close();
      expect(lives(next)).toBe(false);
    },
    60_000,
  );

  it('under npx is replaced when it dies, and closed with all processes of npx', async () => {
    const troupe = await started({
      command: 'npx',
      args: ['--no-install', 'mcp-server-memory'],
      cwd: process.cwd(),
      env: { npm_config_update_notifier: 'false' },
      ...SETTINGS,
    });
    const npx = troupe.status[0]?.pid ?? 0;
    const members = () => readProcesses()!.filter(({ group }) => group === npx);
    const inner = members().find(({ pid }) => members().every(({ parent }) => parent !== pid))?.pid ?? npx;
    expect(inner).not.toBe(npx);
    const back = whenReady(troupe, 2);
    process.kill(inner, 'SIGKILL');
    await back;
    expect(members()).toEqual([]);
    const next = troupe.status[0]?.pid ?? 0;
    await troupe.close();
    expect(readProcesses()!.filter(({ group }) => group === next)).toEqual([]);
  }, 120_000);

  it('that stops reading delays only its own calls, and is replaced after it misses its pings', async () => {
    const troupe = await started(
      server(
        `const hang = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
        tools.sleep = (answer) => { answer('good night'); setImmediate(hang); };`,
        { policy: { ...SETTINGS.policy, ping: { idleMs: 500, timeoutMs: 1_000 } } },
      ),
    );
    const pid = await call(troupe, 'pid');
    const back = whenReady(troupe, 2);
    expect(await call(troupe, 'sleep')).toBe('good night');
    const large = { text: 'x'.repeat(4_000_000) };
    const calls = await Promise.allSettled(
      [1, 2, 3].map(() => troupe.connection('a')!.callTool('pid', large, { timeoutMs: 300 })),
    );
    for (const settled of calls)
      expect(settled).toMatchObject({ status: 'rejected', reason: { code: 'CALL_TIMEOUT' } });
    await back;
    expect(lives(pid)).toBe(false);
    expect(await call(troupe, 'pid')).not.toBe(pid);
  }, 60_000);

  it('that floods its stderr still answers its calls, and the kept stderr stays within its limits', async () => {
    const troupe = await started(
      server(`const line = 'x'.repeat(300) + '\\n';
        const flood = () => process.stderr.write(line.repeat(200), () => setImmediate(flood));
        tools.flood = (answer) => { flood(); answer('begun'); };`),
    );
    expect(await call(troupe, 'flood')).toBe('begun');
    for (let asked = 0; asked < 20; asked += 1) expect(await call(troupe, 'pid')).toMatch(/^\d+$/);
    const [row] = troupe.status;
    expect(row?.stderrTail.length).toBeLessThanOrEqual(200);
    expect(row?.stderrTail.join('').length).toBeLessThanOrEqual(64 * 1_024);
    expect(row).toMatchObject({ state: 'ready', generation: 1 });
  }, 60_000);

  it('that answers with 15 MB is received, and an answer above the limit fails only that call', async () => {
    const troupe = await started(
      server(`tools.large = (answer, { megabytes }) => answer('x'.repeat(megabytes * 1024 * 1024));`),
    );
    const [text, beside] = await Promise.all([call(troupe, 'large', { megabytes: 15 }), call(troupe, 'pid')]);
    expect(text.length).toBe(15 * 1_024 * 1_024);
    expect(beside).toMatch(/^\d+$/);
    await expect(call(troupe, 'large', { megabytes: 17 })).rejects.toMatchObject({
      code: 'JSON_RPC_ERROR',
      message: expect.stringContaining('16,777,216'),
    });
    expect(await call(troupe, 'pid')).toBe(beside);
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 1 }]);
  }, 60_000);
});
