/** A stdio MCP server with one mood for each run: `moods.mjs --mode=MOOD [--journal=FILE] [--state=FILE]`. */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const flags = Object.fromEntries(process.argv.slice(2).map((arg) => arg.replace(/^--/, '').split('=')));
const note = (ev, more) => {
  const entry = { t: Date.now(), pid: process.pid, ev, ...more };
  if (flags.journal !== undefined) appendFileSync(flags.journal, `${JSON.stringify(entry)}\n`);
};
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const later = (ms, then) => setTimeout(() => then(), ms);
const textResult = (text) => ({ content: [{ type: 'text', text }] });
const tool = (name) => ({ name, inputSchema: { type: 'object' } });

let tools = ['say', 'a:b', 'about'].map(tool);
const calls = {
  say: ({ text }) => textResult(`"${text}"`),
  'a:b': () => textResult('colon'),
  about: () =>
    textResult(
      JSON.stringify({ cwd: process.cwd(), greeting: process.env['GREETING'], args: process.argv.slice(2) }),
    ),
};
let answerPing = true;
let onReady = () => {};
let onCancelled = () => {};
let onEnd = () => process.exit();

const moods = {
  calm() {},

  /** Reports a problem and exits. */
  broke() {
    process.stderr.write('moods: no coin in the slot\n');
    process.exit(9);
  },

  /** Exits during a call, once. */
  faints() {
    calls.say = ({ text }) => {
      if (!existsSync(flags.state)) {
        writeFileSync(flags.state, 'fainted');
        process.stderr.write('moods: it went dark\n');
        process.exit(21);
      }
      return textResult(`"${text}"`);
    };
  },

  /** Writes ticks with growing pauses and tocks with shrinking pauses to the journal. */
  clockwork() {
    for (const ago of [70_000, 60_000, 40_000]) note('tick', { t: Date.now() - ago });
    for (const ago of [160_000, 60_000, 10_000]) note('tock', { t: Date.now() - ago });
    note('tock');
  },

  /** Takes long for a call, and sends progress. */
  plods() {
    calls.say = async (_, { id, progressToken }) => {
      const timer = setInterval(() => {
        if (progressToken === undefined) return;
        send({ method: 'notifications/progress', params: { progressToken, progress: Date.now() } });
      }, 150);
      const isCancelled = await new Promise((resolve) => {
        later(3_500, () => resolve(false));
        onCancelled = (cancelled) => cancelled === id && resolve(true);
      });
      clearInterval(timer);
      return isCancelled ? undefined : textResult('at last');
    };
  },

  /** Never answers a ping. */
  sulks() {
    answerPing = false;
  },

  /** Adds a tool soon after it is ready. */
  grows() {
    onReady = () =>
      later(400, () => {
        tools = [...tools, tool('sing')];
        send({ method: 'notifications/tools/list_changed' });
      });
  },

  /** Ignores signals and the end of its input. */
  stays() {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'])
      process.on(signal, () => note('signal', { signal }));
    onEnd = () => setInterval(() => {}, 1_000);
  },

  /** Starts a process that a client cannot find, because it has left the process group; ready when that process runs. */
  haunts() {
    const { initialize } = handlers;
    handlers.initialize = async (params) => {
      while (!readFileSync(flags.journal, 'utf8').includes('"ghost"')) {
        await new Promise((resolve) => later(20, resolve));
      }
      return initialize(params);
    };
    const file = fileURLToPath(import.meta.url);
    const args = ['--mode=ghost', `--journal=${flags.journal}`];
    const start = `require('node:child_process').spawn(process.execPath, ${JSON.stringify([file, ...args])}, { detached: true, stdio: 'ignore', env: {} }).unref()`;
    spawn(process.execPath, ['-e', start], { stdio: 'ignore' });
  },

  ghost() {
    onEnd = () => {};
    later(60_000, () => process.exit());
  },

  /** Writes a line to stdout that is not a message. */
  mutters() {
    process.stdout.write('moods: good morning\n');
  },
};

const handlers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'moods', version: '1.0.0' },
  }),
  ping: () => (answerPing ? {} : undefined),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name, arguments: args = {}, _meta: meta }, id) =>
    calls[name]?.(args, { id, progressToken: meta?.progressToken }) ?? {
      ...textResult(`unknown tool ${name}`),
      isError: true,
    },
};

note('spawn', { mode: flags.mode });
moods[flags.mode]();

createInterface(process.stdin)
  .on('line', async (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    note('recv', { method, ...(method === 'tools/call' && { tool: params.name }) });
    if (method === 'notifications/initialized') onReady();
    if (method === 'notifications/cancelled') onCancelled(params.requestId);
    if (id === undefined || method === undefined) return;
    const handle = handlers[method];
    if (handle === undefined) {
      send({ id, error: { code: -32601, message: `unknown method ${method}` } });
      return;
    }
    const result = await handle(params, id);
    if (result !== undefined) send({ id, result });
  })
  .on('close', () => onEnd());
