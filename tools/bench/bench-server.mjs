/**
 * The MCP server of the benchmarks: without dependencies, the same for every contender. Ten tools.
 *
 * Owns: answers over stdio, over HTTP and in process, and the faults that the scenarios need.
 *
 *     node bench-server.mjs [--http] [--silent] [--late=MS] [--ignores-eof] [--stubborn] [--tools=N] [--run=MARK]
 *
 * `--silent` never answers, `--late` answers `initialize` late, `--ignores-eof` keeps running when its input ends,
 * `--stubborn` also ignores SIGTERM. `--run` is only a mark to find the process. `large` returns a text of `bytes` bytes,
 * or only prepares it (`isAhead`), `notify` sends `count` log messages before it answers. With `--http`, the port is
 * printed on stdout, and `POST /forget` forgets all sessions, as a restart does.
 */
import { fileURLToPath } from 'node:url';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

const NOTIFICATIONS_A_WRITE = 500;
const LINE = `${'All work and no play makes a good benchmark text of eighty characters, or so. '.padEnd(79)}\n`;

const schema = (properties) => ({ type: 'object', properties, additionalProperties: false });
const NUMBER = { type: 'integer', minimum: 0 };
const makeTools = (count) => [
  {
    name: 'large',
    description: 'Gives a text of so many bytes.',
    inputSchema: schema({ bytes: NUMBER, isAhead: { type: 'boolean' } }),
  },
  { name: 'notify', description: 'Sends log messages first.', inputSchema: schema({ count: NUMBER }) },
  ...Array.from({ length: count - 2 }, (_, index) => ({
    name: `tool_${index}`,
    description: 'Says what it was given.',
    inputSchema: schema({ text: { type: 'string' } }),
  })),
];

const textResult = (text) => ({ content: [{ type: 'text', text }] });

/** Answers for any transport. @param {number} toolCount */
export function makeAnswers(toolCount = 10) {
  const tools = makeTools(toolCount);
  const large = new Map();
  const calls = {
    large: ({ bytes, isAhead }) => {
      if (!large.has(bytes)) large.set(bytes, LINE.repeat(Math.ceil(bytes / LINE.length)).slice(0, bytes));
      return textResult(isAhead ? 'made' : large.get(bytes));
    },
    notify: ({ count }) => textResult(String(count)),
  };
  const results = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion: protocolVersion === '2025-11-25' ? protocolVersion : '2025-06-18',
      capabilities: { tools: {}, logging: {} },
      serverInfo: { name: 'bench-server', version: '1.0.0' },
    }),
    'tools/list': () => ({ tools }),
    'tools/call': ({ name, arguments: given }) => (calls[name] ?? (() => textResult(given.text)))(given),
    'logging/setLevel': () => ({}),
    ping: () => ({}),
  };
  return ({ id, method, params }) => {
    const result = results[method]?.(params ?? {});
    const error = { code: -32601, message: `Method not found: ${method}` };
    return { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) };
  };
}

/** The same answers in the new era of the protocol. */
export function inNewEra(answer) {
  const serverInfo = { name: 'bench-server', version: '1.0.0' };
  const discovered = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
  const more = {
    resultType: 'complete',
    ...{ ttlMs: 0, cacheScope: 'private' },
    _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
  };
  return (request) => {
    const { id, method } = request;
    const { jsonrpc, result = {} } =
      method === 'server/discover' ? { jsonrpc: '2.0', result: discovered } : answer(request);
    return { jsonrpc, id, result: Object.assign({}, result, more) };
  };
}

/** An in-process server for `{ type: 'in-process', server }` and the linked transports of SDKs. */
export function inProcessServer(answer = makeAnswers()) {
  return {
    async connect(transport) {
      transport.onmessage = (message) => {
        if (message.id !== undefined) void transport.send(answer(message));
      };
      await transport.start();
    },
  };
}

const countOf = ({ method, params }) =>
  method === 'tools/call' && params?.name === 'notify' ? params.arguments.count : 0;

async function notify(count) {
  const line = (index) =>
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'info', logger: 'bench', data: `step ${index}` },
    });
  for (let sent = 0; sent < count; sent += NOTIFICATIONS_A_WRITE) {
    const size = Math.min(NOTIFICATIONS_A_WRITE, count - sent);
    const text = Array.from({ length: size }, (_, index) => `${line(sent + index)}\n`).join('');
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  }
}

function serveStdio(answer, { isSilent, lateMs, staysAfterEnd }) {
  let rest = '';
  const write = (messages) =>
    process.stdout.write(messages.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const take = async (requests) => {
    for (const request of requests) {
      await notify(countOf(request));
      write([answer(request)]);
    }
  };
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    const requests = lines.map((line) => JSON.parse(line)).filter(({ id }) => id !== undefined);
    if (isSilent || requests.length === 0) return;
    if (requests.some((request) => countOf(request) > 0)) void take(requests);
    else if (requests[0].method === 'initialize') setTimeout(() => write(requests.map(answer)), lateMs);
    else write(requests.map(answer));
  });
  if (staysAfterEnd) setInterval(() => {}, 1 << 30);
}

function readBody(request) {
  return new Promise((resolve) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks).toString()));
  });
}

/** Streamable HTTP with JSON answers; one session per client. */
export async function serveHttp(answer, port = 0) {
  const sessions = new Set();
  const server = createServer(async (request, response) => {
    const end = (status, headers, body = '') => response.writeHead(status, headers).end(body);
    if (request.url === '/forget') {
      sessions.clear();
      return end(204);
    }
    const session = request.headers['mcp-session-id'];
    if (request.method === 'DELETE') {
      sessions.delete(session);
      return end(204);
    }
    if (request.method !== 'POST') return end(405, { allow: 'POST, DELETE' });
    const message = JSON.parse(await readBody(request));
    const isFirst = message.method === 'initialize';
    if (!isFirst && !sessions.has(session))
      return end(404, { 'content-type': 'text/plain' }, 'Session not found');
    if (message.id === undefined) return end(202);
    const headers = { 'content-type': 'application/json' };
    if (isFirst) {
      headers['mcp-session-id'] = randomUUID();
      sessions.add(headers['mcp-session-id']);
    }
    return end(200, headers, JSON.stringify(answer(message)));
  });
  server.keepAliveTimeout = 60_000;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const flags = process.argv.slice(2);
  const value = (name, fallback) =>
    Number(flags.find((flag) => flag.startsWith(`--${name}=`))?.split('=')[1] ?? fallback);
  const answer = makeAnswers(value('tools', 10));
  const isStubborn = flags.includes('--stubborn');
  if (isStubborn) process.on('SIGTERM', () => {});
  if (flags.includes('--http')) {
    const server = await serveHttp(answer);
    process.stdout.write(`${server.address().port}\n`);
    process.stdin.resume().on('end', () => process.exit());
  } else {
    const staysAfterEnd = isStubborn || flags.includes('--ignores-eof');
    serveStdio(answer, { isSilent: flags.includes('--silent'), lateMs: value('late', 0), staysAfterEnd });
  }
}
