/** An HTTP server that repeats its input in every field that it can send. */
import type { ServerResponse } from 'node:http';
import {
  answer,
  event,
  mcp,
  openStream,
  startServer,
  type Handler,
  type Seen,
  type TestServer,
} from '../../support/http-server.js';

/** Its behaviors: starts up and sends a lot, or refuses in one of several ways. */
export const BEHAVIORS = [
  'polite',
  'forbids',
  'wants-sign-in',
  'redirects',
  'shows-a-page',
  'fails-calls',
] as const;
export type Behavior = (typeof BEHAVIORS)[number];

export function startHttpParrot(behavior: Behavior): Promise<TestServer> {
  return startServer((seen, res) => {
    if (!seen.path.startsWith('/mcp')) return void res.writeHead(404).end(heard(seen).join());
    return handlers[behavior](seen, res);
  });
}

/** Everything in a request that may be a secret, as the server would log it. */
function heard({ path, headers }: Seen): readonly string[] {
  const url = new URL(path, 'http://127.0.0.1');
  const own = Object.entries(headers)
    .filter(([name]) => name === 'authorization' || name.startsWith('x-'))
    .map(([, value]) => String(value));
  const credentials = own
    .filter((value) => value.startsWith('Basic '))
    .map((value) => Buffer.from(value.slice(6), 'base64').toString());
  const texts = [
    path,
    url.search,
    url.pathname.slice(5),
    decoded(url.pathname.slice(5)),
    ...url.searchParams.values(),
    ...own,
    ...own.map((value) => value.replace(/^\w+ /, '')),
    ...credentials,
    ...credentials.flatMap((pair) => [pair.slice(0, pair.indexOf(':')), pair.slice(pair.indexOf(':') + 1)]),
  ];
  return [
    ...texts,
    ...texts.map((text) => JSON.stringify(text)),
    ...texts.map((text) => encodeURIComponent(text)),
    ...texts.map((text) => new URLSearchParams({ text }).toString()),
  ].filter((text) => text !== '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const asKeys = (seen: Seen) => Object.fromEntries(heard(seen).map((text) => [text, { [text]: text }]));
/** As one line that fits into a header. */
const line = (seen: Seen): string =>
  heard(seen)
    .join(' ')
    .replace(/[^ -~]/g, '?');

const refuseCall: Handler = (seen, res) => {
  const error = {
    code: -1,
    message: heard(seen).join(),
    data: { repeated: heard(seen), asKeys: asKeys(seen) },
  };
  res
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', id: seen.rpc.id, error }));
};

function listTools(seen: Seen, res: ServerResponse): void {
  const names = heard(seen);
  answer(res, seen, {
    tools: [
      ...names.map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
      ...names.map((name) => ({ name: `bad ${name}`, inputSchema: 7 })),
      { name: 'refuse', inputSchema: { type: 'object' } },
    ],
  });
}

const introduce: Handler = (seen, res) =>
  answer(res, seen, {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {}, resources: {}, experimental: asKeys(seen) },
    serverInfo: { name: line(seen), version: line(seen) },
    instructions: heard(seen).join('\n'),
  });

const talk: Handler = (seen, res) => {
  const stream = openStream(res);
  for (const data of [...heard(seen), asKeys(seen)]) {
    const params = { level: line(seen), logger: line(seen), data };
    stream.write(event({ jsonrpc: '2.0', method: 'notifications/message', params }));
  }
};

const orRefuse: Handler = (seen, res) =>
  seen.rpc.method === 'tools/list' ? listTools(seen, res) : refuseCall(seen, res);

/** A refusal that repeats everything in its header and body. */
const status =
  (code: number): Handler =>
  (seen, res) =>
    void res
      .writeHead(code, { 'www-authenticate': `Bearer realm="${line(seen)}"`, 'content-type': 'text/plain' })
      .end(heard(seen).join('\n'));

const handlers: Readonly<Record<Behavior, Handler>> = {
  polite: mcp({ initialize: introduce, listen: talk, request: orRefuse }),
  forbids: status(403),
  'wants-sign-in': status(401),
  redirects: (seen, res) =>
    void res
      .writeHead(302, {
        location: `/elsewhere/${encodeURIComponent(heard(seen)[0] ?? '')}?${line(seen).replaceAll('#', '%23')}`,
      })
      .end(),
  'shows-a-page': (seen, res) =>
    void res.writeHead(200, { 'content-type': 'text/html' }).end(`<h1>${heard(seen).join()}</h1>`),
  'fails-calls': mcp({
    initialize: introduce,
    request: (seen, res) =>
      seen.rpc.method === 'tools/list' ? listTools(seen, res) : status(500)(seen, res),
  }),
};
