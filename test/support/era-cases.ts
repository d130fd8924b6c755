/**
 * Servers that get the eras of MCP wrong, one a case, and what must come of each. `auto` asks in the new era first over HTTP,
 * otherwise in the old one; `new` asks in the new one only.
 */
import type { ServerResponse } from 'node:http';
import type { Seen } from './http-server.js';

const NEW = '2026-07-28';
const OLDER = '2025-11-25';
const META = 'io.modelcontextprotocol/';

type Params = Readonly<Record<string, unknown>>;

/** What comes back: a result, an error, nothing at all, the end of the session, or an HTTP reply that is no answer. */
export type Reply =
  | { readonly result: unknown; readonly before?: readonly object[] }
  | {
      readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
      readonly id?: null;
    }
  | { readonly nothing: true; readonly before?: readonly object[] }
  | { readonly end: true }
  | { readonly status: number; readonly body?: string; readonly type?: string; readonly challenge?: string };

export type Plan = Readonly<Record<string, (params: Params, id: unknown) => Reply>>;

/** The version that is spoken in the end, or the code of the failure. */
export type EraOutcome = '2025-11-25' | '2026-07-28' | (string & {});

export interface EraCase {
  readonly plan: Plan;
  /** By the setting `protocol`; undefined: not tried. */
  readonly auto?: EraOutcome;
  /** The same over HTTP. Default: `auto`. */
  readonly autoOverHttp?: EraOutcome;
  readonly new?: EraOutcome;
  /** The text of a call, or the name of its error. Default: `fine` or `old`, by the version. */
  readonly call?: string;
  /** Only a server over HTTP can do this. */
  readonly isHttp?: true;
}

const ok = (more: Params = {}): Params => ({ resultType: 'complete', ...more });
const text = (value: string): Params => ({ content: [{ type: 'text', text: value }] });
const error = (code: number, data?: unknown): Reply => ({
  error: { code, message: 'no', ...(data === undefined ? {} : { data }) },
});
const TOOL = { name: 't', inputSchema: { type: 'object' } };
const discovered = (more: Params = {}): Reply => ({
  result: ok({
    supportedVersions: [NEW],
    capabilities: { tools: { listChanged: true } },
    ttlMs: 1_000,
    cacheScope: 'public',
    _meta: { [`${META}serverInfo`]: { name: 'odd', version: '0' } },
    ...more,
  }),
});
const initialized = (protocolVersion = OLDER): Reply => ({
  result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '0' } },
});
const tools = (more: Params = {}): Reply => ({
  result: ok({ tools: [TOOL], ttlMs: 0, cacheScope: 'private', ...more }),
});
const called = (value = 'fine'): Reply => ({ result: ok(text(value)) });
const ask = (requestState?: string): Reply => ({
  result: {
    resultType: 'input_required',
    inputRequests: { q: { method: 'roots/list', params: {} } },
    ...(requestState === undefined ? {} : { requestState }),
  },
});
const stamped = (id: unknown): Params => ({ _meta: { [`${META}subscriptionId`]: id } });
const acknowledged = (id: unknown): object => ({
  method: 'notifications/subscriptions/acknowledged',
  params: { notifications: { toolsListChanged: true }, ...stamped(id) },
});
const CHANGED = 'notifications/tools/list_changed';

const calledByVersion: Plan[string] = ({ _meta: meta }) =>
  called(JSON.stringify(meta ?? {}).includes(NEW) ? 'fine' : 'old');

const OLD: Plan = {
  initialize: () => initialized(),
  'tools/list': () => ({ result: { tools: [TOOL] } }),
  'tools/call': () => ({ result: text('old') }),
  ping: () => ({ result: {} }),
};
const MODERN: Plan = {
  'server/discover': () => discovered(),
  'tools/list': () => tools(),
  'tools/call': () => called(),
  'subscriptions/listen': (_, id) => ({ nothing: true, before: [acknowledged(id)] }),
};
const oldWith = (reply: Reply): Plan => ({ ...OLD, 'server/discover': () => reply });
const newWith = (more: Plan): Plan => ({ ...MODERN, ...more });
const discovering = (reply: Reply): Plan => newWith({ 'server/discover': () => reply });
const calling = (call: Plan[string]): Plan => newWith({ 'tools/call': call });

function refusingEveryOther(reply: Reply): Plan[string] {
  let isRefused = false;
  return () => {
    isRefused = !isRefused;
    return isRefused ? error(-32022, { supported: [NEW] }) : reply;
  };
}

/** An old server works in the old era, whatever it makes of the new one. */
const old = (reply: Reply, asked?: EraOutcome): EraCase => ({
  plan: oldWith(reply),
  auto: OLDER,
  ...(asked !== undefined && { new: asked }),
});
const overHttp = (reply: Reply, asked: EraOutcome): EraCase => ({ ...old(reply, asked), isHttp: true });
const modern = (plan: Plan, call?: string): EraCase => ({
  plan,
  auto: NEW,
  new: NEW,
  ...(call !== undefined && { call }),
});
const refusing = (plan: Plan, code: string): EraCase => ({ plan, new: code });

export const ERA_CASES: Readonly<Record<string, EraCase>> = {
  'old, -32601': old(error(-32601), 'server-error'),
  'old, -32602': old(error(-32602), 'server-error'),
  'old, -32000': old(error(-32000), 'server-error'),
  'old, silent': old({ nothing: true }),
  'old, exits': old({ end: true }, 'connection-lost'),
  'old, empty result': old({ result: {} }, 'protocol-error'),
  'old, names the new version in the handshake': {
    plan: { ...oldWith(error(-32601)), initialize: () => initialized(NEW) },
    auto: 'protocol-version',
  },
  both: {
    plan: { ...OLD, ...MODERN, 'tools/call': calledByVersion },
    auto: OLDER,
    autoOverHttp: NEW,
    new: NEW,
  },
  'both, refuses the client': {
    plan: { ...OLD, 'server/discover': () => error(-32021, { requiredCapabilities: {} }) },
    auto: OLDER,
    new: 'server-error',
  },
  new: modern(MODERN),
  'new, another version': refusing(
    discovering(discovered({ supportedVersions: ['2099-01-01'] })),
    'protocol-version',
  ),
  'new, only an old version': {
    plan: { ...OLD, 'server/discover': () => discovered({ supportedVersions: [OLDER] }) },
    auto: OLDER,
    new: 'protocol-version',
  },
  'new, no version': refusing(discovering(discovered({ supportedVersions: [] })), 'protocol-version'),
  'new, refuses with other versions': refusing(
    discovering(error(-32022, { supported: ['2099-01-01'] })),
    'protocol-version',
  ),
  'new, refuses with old versions': {
    plan: oldWith(error(-32022, { supported: [OLDER] })),
    auto: OLDER,
    new: 'protocol-version',
  },
  'new, refuses the version that it names': refusing(
    discovering(error(-32022, { supported: [NEW] })),
    'protocol-version',
  ),
  'new, refuses the version that it names once': modern(
    newWith({ 'server/discover': refusingEveryOther(discovered()) }),
  ),
  'new, refuses without versions': refusing(discovering(error(-32022)), 'protocol-version'),
  'new, refuses initialize with its version': modern(
    newWith({ initialize: () => error(-32022, { supported: [NEW] }) }),
  ),
  'new, refuses initialize with another version': {
    plan: newWith({ initialize: () => error(-32022, { supported: ['2099-01-01'] }) }),
    auto: 'protocol-version',
    autoOverHttp: NEW,
    new: NEW,
  },
  'new, refuses initialize without versions': modern(newWith({ initialize: () => error(-32022) })),
  'new, refuses initialize for its lack of _meta': modern(newWith({ initialize: () => error(-32602) })),
  'new, wants a capability': refusing(
    discovering(error(-32021, { requiredCapabilities: {} })),
    'server-error',
  ),
  'new, misses a header': refusing(discovering(error(-32020)), 'server-error'),
  'new, then refuses': {
    plan: newWith({ 'tools/list': () => error(-32022, { supported: [OLDER] }) }),
    new: 'server-error',
  },
  'new, then knows no list': modern(newWith({ 'tools/list': () => error(-32601) }), 'none'),
  'new, results without a type': modern(
    newWith({
      'tools/list': () => ({ result: { tools: [TOOL], resultType: undefined } }),
      'tools/call': () => ({ result: { ...text('fine'), resultType: undefined } }),
    }),
  ),
  'new, a result of another type': modern(
    calling(() => ({ result: { resultType: 'later', content: [] } })),
    'OutcomeUnknownError',
  ),
  'new, anonymous': modern(discovering(discovered({ _meta: undefined }))),
  'new, named in the body': modern(
    discovering(discovered({ _meta: undefined, serverInfo: { name: 'n', version: '0' } })),
  ),
  'new, wrong hints': modern(newWith({ 'tools/list': () => tools({ ttlMs: -5, cacheScope: 'nobody' }) })),
  'new, no hints': modern(
    newWith({ 'tools/list': () => tools({ ttlMs: undefined, cacheScope: undefined }) }),
  ),
  'rounds, state lost': modern(
    calling(({ inputResponses }) => (inputResponses === undefined ? ask('s1') : error(-32602))),
    'JsonRpcError',
  ),
  'rounds, endless': modern(
    calling(() => ask('s')),
    'OutcomeUnknownError',
  ),
  'rounds, only a state': modern(
    calling(({ requestState: state = '' }) =>
      String(state).length < 3
        ? { result: { resultType: 'input_required', requestState: `${String(state)}x` } }
        : called(String(state)),
    ),
    'xxx',
  ),
  'rounds, nothing asked': modern(
    calling(() => ({ result: { resultType: 'input_required' } })),
    'OutcomeUnknownError',
  ),
  'rounds, an unknown question': modern(
    calling(() => ({
      result: { resultType: 'input_required', inputRequests: { q: { method: 'person/ask', params: {} } } },
    })),
    'OutcomeUnknownError',
  ),
  'rounds, a question that nobody answers': modern(
    calling(() => ({
      result: {
        resultType: 'input_required',
        inputRequests: { q: { method: 'elicitation/create', params: {} } },
      },
    })),
    'OutcomeUnknownError',
  ),
  'rounds, on a list': { plan: newWith({ 'tools/list': () => ask('s') }), new: 'protocol-error' },
  'rounds, without a state': modern(
    calling((params) =>
      params['inputResponses'] === undefined ? ask() : called(`state ${'requestState' in params}`),
    ),
    'state false',
  ),
  'asks in the old way': modern(
    calling(() => ({ ...called('asked'), before: [{ id: 'srv-1', method: 'roots/list', params: {} }] })),
    'asked',
  ),
  'listen, mute': modern(newWith({ 'subscriptions/listen': () => ({ nothing: true }) })),
  'listen, refused': modern(newWith({ 'subscriptions/listen': () => error(-32601) })),
  'listen, early change': modern(
    newWith({
      'subscriptions/listen': (_, id) => ({
        nothing: true,
        before: [{ method: CHANGED, params: stamped(id) }, acknowledged(id)],
      }),
    }),
  ),
  'listen, unstamped': modern(
    newWith({ 'subscriptions/listen': () => ({ nothing: true, before: [acknowledged(undefined)] }) }),
  ),
  'listen, unasked changes': modern(
    newWith({ 'tools/list': () => ({ ...tools(), before: [{ method: CHANGED }] }) }),
  ),
  'listen, over at once': modern(
    newWith({ 'subscriptions/listen': (_, id) => ({ result: ok(), before: [acknowledged(id)] }) }),
  ),
  'http 404': overHttp({ status: 404, body: 'Not Found', type: 'text/plain' }, 'http-status'),
  'http 404, unknown session': overHttp(rpcBody(404, -32001, 'Invalid session ID'), 'http-status'),
  'http 405': overHttp({ status: 405 }, 'http-status'),
  'http 400, empty': overHttp({ status: 400 }, 'http-status'),
  'http 400, no session': overHttp(
    rpcBody(400, -32000, 'Bad Request: Server not initialized'),
    'http-status',
  ),
  'http 400, version': overHttp(rpcBody(400, -32000, 'Unsupported protocol version'), 'http-status'),
  'http 401': {
    plan: {
      'server/discover': () => ({ status: 401, challenge: 'Bearer' }),
      initialize: () => ({ status: 401, challenge: 'Bearer' }),
    },
    auto: 'auth-required',
    new: 'auth-required',
    isHttp: true,
  },
  'http 401 but for the handshake': {
    plan: { ...OLD, 'server/discover': () => ({ status: 401, challenge: 'Bearer' }) },
    auto: OLDER,
    new: 'auth-required',
    isHttp: true,
  },
  'http 403': overHttp({ status: 403 }, 'http-status'),
  'http 422': overHttp({ status: 422, body: '{"detail":"unprocessable"}' }, 'http-status'),
  'http 500': overHttp(rpcBody(500, -32603, 'Internal'), 'http-status'),
  'http 502': overHttp({ status: 502, body: '<html>', type: 'text/html' }, 'http-status'),
  'http 200, a page': overHttp({ status: 200, body: '<html>', type: 'text/html' }, 'http-not-mcp'),
  'http 202': overHttp({ status: 202 }, 'http-not-mcp'),
  'http, reset': overHttp({ end: true }, 'connection-lost'),
  'http, an answer to nothing': overHttp(
    { error: { code: -32600, message: 'Invalid Request' }, id: null },
    'protocol-error',
  ),
  'http 404, unknown method': {
    ...modern(
      calling(() => error(-32601)),
      'JsonRpcError',
    ),
    isHttp: true,
  },
};

function rpcBody(status: number, code: number, message: string): Reply {
  return { status, body: JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }) };
}

/** MCP 2026-07-28, "Transports": the status of an error. */
const STATUS: Readonly<Record<number, number>> = {
  [-32601]: 404,
  [-32020]: 400,
  [-32021]: 400,
  [-32022]: 400,
};

function replyTo(plan: Plan, method: string, params: Params, id: unknown): Reply {
  return plan[method]?.(params, id) ?? error(-32601);
}

const jsonRpc = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message });

/** Serves a case over HTTP. */
export function serveCase(plan: Plan): (seen: Seen, res: ServerResponse) => void {
  return ({ method, rpc }, res) => {
    if (method !== 'POST') return void res.writeHead(405).end();
    if (rpc.id === undefined) return void res.writeHead(202).end();
    const reply = replyTo(plan, rpc.method ?? '', rpc.params ?? {}, rpc.id);
    if ('end' in reply) return void res.destroy();
    if ('status' in reply) {
      const { status, body = '', type = 'application/json', challenge } = reply;
      const headers = challenge === undefined ? {} : { 'www-authenticate': challenge };
      return void res.writeHead(status, { 'content-type': type, ...headers }).end(body);
    }
    const before = ('before' in reply ? reply.before : undefined) ?? [];
    if (before.length > 0) {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const message of before) res.write(`data: ${jsonRpc(message)}\n\n`);
    }
    if ('nothing' in reply) return;
    const { before: _, ...answer } = { before: undefined, ...reply };
    const text = jsonRpc({ id: rpc.id, ...answer });
    if (before.length > 0) return void res.end(`data: ${text}\n\n`);
    const status = 'error' in reply ? (STATUS[reply.error.code] ?? 200) : 200;
    res.writeHead(status, { 'content-type': 'application/json' }).end(text);
  };
}

/** The other end of a `FakeTransport`. */
interface Wire {
  onmessage?: ((message: never) => void) | undefined;
  send(message: never): Promise<void>;
  close(): Promise<void>;
}

/** Serves a case over a fake transport, and notes the methods that it is asked for. */
export function casePeer(plan: Plan, asked: string[]): { connect(wire: Wire): Promise<void> } {
  return {
    connect: async (wire) => {
      const say = (message: object): void => void wire.send({ jsonrpc: '2.0', ...message } as never);
      wire.onmessage = ({ id, method, params = {} }: { id?: unknown; method?: string; params?: Params }) => {
        if (method === undefined) return;
        asked.push(method);
        if (id === undefined) return;
        const reply = replyTo(plan, method, params, id);
        if ('end' in reply) return void wire.close();
        if ('status' in reply) throw new Error('Only over HTTP.');
        const before = ('before' in reply ? reply.before : undefined) ?? [];
        for (const message of before) say(message);
        if ('nothing' in reply) return;
        const { before: _, ...answer } = { before: undefined, ...reply };
        say({ id, ...answer });
      };
    },
  };
}
