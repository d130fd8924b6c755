/**
 * An HTTP MCP server with one habit for each run: `quay.mjs --mode=HABIT [--journal=FILE]`. Its first line of output is
 * `{ url, control }`; `GET <control>seen` returns the requests, `POST <control>do/forget` makes it forget its sessions.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';

const flags = Object.fromEntries(process.argv.slice(2).map((arg) => arg.replace(/^--/, '').split('=')));
const sessions = new Set();
const seen = [];
let origin = '';
let renewals = 0;

if (flags.journal !== undefined) {
  appendFileSync(flags.journal, `${JSON.stringify({ t: Date.now(), pid: process.pid, ev: 'spawn' })}\n`);
}

const json = (res, status, body, headers = {}) =>
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

const handlers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'quay', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [{ name: 'tide', inputSchema: { type: 'object' } }] }),
  'tools/call': ({ name }) => ({ content: [{ type: 'text', text: `${name}: high` }] }),
};

const challenge = () => ({
  'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"`,
});
const guards = {
  'wants-key': ({ authorization }) => authorization === 'Bearer quay-7',
  'renews-tokens': ({ authorization }) => authorization === `Bearer fresh-${renewals}` && renewals > 0,
  'refuses-tokens': () => false,
  'knows-tokens': ({ authorization }) => authorization === 'Bearer stale-0',
};

/** The metadata of the authorization server. */
const pages = {
  '/.well-known/oauth-protected-resource': () => ({
    resource: `${origin}/mcp`,
    authorization_servers: [origin],
  }),
  '/.well-known/oauth-authorization-server': () => ({
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
  }),
};

function token(res) {
  if (flags.mode !== 'renews-tokens') return json(res, 400, { error: 'invalid_grant' });
  renewals += 1;
  return json(res, 200, {
    access_token: `fresh-${renewals}`,
    refresh_token: `again-${renewals}`,
    token_type: 'Bearer',
  });
}

function serve(req, res, message) {
  const { pathname } = new URL(req.url, origin);
  const page = pages[pathname.replace(/\/mcp$/, '')];
  if (page !== undefined) return json(res, 200, page());
  if (pathname === '/token') return token(res);
  if (pathname !== '/mcp') return json(res, 404, {});
  if (guards[flags.mode]?.(req.headers) === false) return json(res, 401, { error: 'no' }, challenge());
  const session = req.headers['mcp-session-id'];
  if (message?.method !== 'initialize' && !sessions.has(session)) return json(res, 404, { error: 'who?' });
  if (req.method === 'GET') return json(res, 405, {});
  if (req.method === 'DELETE') return json(res, 200, {});
  if (message.id === undefined || message.method === undefined) return res.writeHead(202).end();
  const id = message.method === 'initialize' ? randomUUID() : session;
  sessions.add(id);
  const result = handlers[message.method]?.(message.params ?? {});
  return json(res, 200, { jsonrpc: '2.0', id: message.id, result }, { 'mcp-session-id': id });
}

const levers = { forget: () => sessions.clear() };

const server = createServer(async (req, res) => {
  if (req.url === '/-/seen') return json(res, 200, seen);
  if (req.url.startsWith('/-/do/')) {
    const pull = levers[req.url.slice('/-/do/'.length)];
    pull?.();
    return json(res, pull === undefined ? 404 : 200, {});
  }
  const chunks = await collect(req);
  const body = Buffer.concat(chunks).toString();
  const message = body.startsWith('{') ? JSON.parse(body) : null;
  const { pathname } = new URL(req.url, origin);
  const entry = {
    ...{ t: Date.now(), method: req.method, path: pathname, rpc: message?.method ?? null },
    ...{ tool: message?.params?.name ?? null, session: req.headers['mcp-session-id'] ?? null },
    ...{ auth: req.headers.authorization ?? null, lastEventId: null, headers: req.headers, status: 0 },
  };
  seen.push(entry);
  res.on('finish', () => (entry.status = res.statusCode));
  serve(req, res, message);
});

async function collect(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

if (flags.mode === 'no-line') console.log('quay is open');
server.listen(0, '127.0.0.1', () => {
  origin = `http://127.0.0.1:${server.address().port}`;
  console.log(JSON.stringify({ url: `${origin}/mcp`, control: `${origin}/-/` }));
});
