/**
 * A remote MCP server and its authorization server in their own process: streamable HTTP at `/mcp`, with sessions, and
 * `/sse`, which it only rejects. Its first message to its parent has its address. After that, it applies orders and
 * confirms each:
 *
 * - `answers`: replaces the default answers from now on, by JSON-RPC method, HTTP method or path. The fields
 *   `{ afterMs, silent, needsToken, status }` apply in this order. If `needsToken` is `another`, no token is accepted.
 * - `forget`: all sessions, or all tokens, are unknown from now on.
 * - `isGone`: all connections are rejected from now on.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const known = { sessions: new Set(), tokens: new Set() };
let count = 0;
let answers = {};

const RESULTS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'remote', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'echoed' }] }),
  ping: () => ({}),
};

const PLACES = {
  '/.well-known/oauth-protected-resource': (origin) => ({
    resource: `${origin}/`,
    authorization_servers: [origin],
  }),
  '/.well-known/oauth-authorization-server': (origin) => ({
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  }),
  '/register': (_, body) => ({ ...JSON.parse(body), client_id: 'client' }),
  '/token': (_, body) => {
    const refresh = new URLSearchParams(body).get('refresh_token');
    if (refresh !== null && !known.tokens.has(refresh)) return { error: 'invalid_grant' };
    return { access_token: remember('tokens'), refresh_token: remember('tokens'), token_type: 'Bearer' };
  },
};

/** Creates a session or a token. */
function remember(kind) {
  count += 1;
  const one = `${kind}-${count}`;
  known[kind].add(one);
  return one;
}

async function answer(request, response) {
  const chunks = await request.toArray();
  const body = Buffer.concat(chunks).toString();
  const { pathname } = new URL(request.url, server.origin);
  const isMcp = pathname === '/mcp' || pathname === '/sse';
  const message = isMcp && body !== '' ? JSON.parse(body) : {};
  const { afterMs, silent, needsToken, status } =
    answers[isMcp ? (message.method ?? request.method) : pathname] ?? {};
  if (afterMs !== undefined) await pause(afterMs);
  if (silent) return;
  const token = request.headers.authorization?.replace('Bearer ', '');
  if (needsToken === 'another' || (needsToken && !known.tokens.has(token))) {
    const place = `resource_metadata="${server.origin}/.well-known/oauth-protected-resource"`;
    response.writeHead(401, { 'www-authenticate': `Bearer ${place}` }).end();
  } else if (status !== undefined) response.writeHead(status).end();
  else if (isMcp) serve(request, message, response);
  else if (PLACES[pathname] === undefined) response.writeHead(404).end();
  else reply(response, PLACES[pathname](server.origin, body));
}

function serve(request, { id, method, params }, response) {
  const session = request.headers['mcp-session-id'];
  if (method === 'initialize') {
    return reply(response, resultOf(id, method, params), { 'mcp-session-id': remember('sessions') });
  }
  if (!known.sessions.has(session)) return response.writeHead(404).end();
  if (request.method === 'DELETE') known.sessions.delete(session);
  if (request.method === 'GET') return response.writeHead(405).end();
  if (id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 200).end();
  return reply(response, resultOf(id, method, params));
}

function resultOf(id, method, params) {
  return { jsonrpc: '2.0', id, result: RESULTS[method](params) };
}

function reply(response, value, headers = {}) {
  const status = 'error' in value ? 400 : 200;
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

function apply(order) {
  if (order.answers !== undefined) ({ answers } = order);
  if (order.forget !== undefined) known[order.forget].clear();
  if (order.isGone) {
    server.close();
    server.closeAllConnections();
  }
}

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
process.on('disconnect', () => process.exit());
process.on('message', ({ number, order }) => {
  apply(order);
  process.send({ number });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
server.origin = `http://127.0.0.1:${server.address().port}`;
process.send({ origin: server.origin });
