/**
 * The floor: an MCP client without a library that can only list and call tools. A client that does more cannot be much
 * faster.
 *
 * Owns: framing with a list of chunks, one write for all messages of a turn, the end of a process group.
 * Does not: check an answer, time out, report, recover.
 */
import { spawn } from 'node:child_process';

const STEP_MS = 1_000;

/** Matches answers to requests; `send` takes a message. */
class Requests {
  #waiting = new Map();
  #next = 1;
  notified = 0;

  constructor(send) {
    this.send = send;
  }

  request(method, params) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.send({ jsonrpc: '2.0', id, method, params });
    });
  }

  take(message) {
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) {
      this.notified += 1;
      return;
    }
    this.#waiting.delete(message.id);
    if (message.error === undefined) waiting.resolve(message.result);
    else waiting.reject(new Error(message.error.message));
  }

  fail(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  async handshake() {
    await this.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'floor', version: '1.0.0' },
    });
    this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const { tools } = await this.request('tools/list', {});
    this.tools = tools;
    return this;
  }

  call(name, given) {
    return this.request('tools/call', { name, arguments: given });
  }
}

/** Calls `online` with every line, for any chunks. */
function framer(online) {
  let held = [];
  return (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      const part = chunk.subarray(from, at);
      online(held.length === 0 ? part : Buffer.concat([...held, part]));
      held = [];
      from = at + 1;
    }
    if (from < chunk.length) held.push(chunk.subarray(from));
  };
}

export async function openProcess({ command, args }) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'], detached: true });
  let lines = [];
  const flush = () => {
    const text = lines.join('');
    lines = [];
    child.stdin.write(text);
  };
  const requests = new Requests((message) => {
    if (lines.push(`${JSON.stringify(message)}\n`) === 1) process.nextTick(flush);
  });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.once('error', (error) => requests.fail(error));
  child.once('exit', () => requests.fail(new Error('The server has ended.')));
  child.stdin.on('error', () => {});
  child.stdout.on(
    'data',
    framer((line) => requests.take(JSON.parse(line.toString()))),
  );
  requests.close = () => endGroup(child, gone);
  requests.pid = child.pid;
  return requests.handshake();
}

async function endGroup(child, gone) {
  const within = (ms) => {
    let timer;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, ms, 'late')));
    return Promise.race([gone, late]).finally(() => clearTimeout(timer));
  };
  const kill = (signal) => {
    try {
      process.kill(-child.pid, signal);
    } catch {
      // The group has already ended.
    }
  };
  child.stdin.end();
  if ((await within(STEP_MS)) === 'late') {
    kill('SIGTERM');
    await within(STEP_MS);
  }
  kill('SIGKILL');
  await gone;
}

export async function openHttp({ url }) {
  const { Agent, request } = await import('node:http');
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const requests = new Requests((message) => {
    const sending = request(url, { method: 'POST', agent, headers }, (response) => {
      headers['mcp-session-id'] ??= response.headers['mcp-session-id'];
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        if (response.statusCode >= 400) requests.fail(new Error(`HTTP ${response.statusCode}`));
        else if (chunks.length > 0) requests.take(JSON.parse(Buffer.concat(chunks).toString()));
      });
    });
    sending.on('error', (error) => requests.fail(error));
    sending.end(JSON.stringify(message));
  });
  requests.close = async () => agent.destroy();
  return requests.handshake();
}

export async function openInProcess({ server }) {
  const transport = {
    start: async () => {},
    send: (message) => queueMicrotask(() => requests.take(message)),
  };
  await server.connect(transport);
  const requests = new Requests((message) => queueMicrotask(() => transport.onmessage(message)));
  requests.close = async () => {};
  return requests.handshake();
}
