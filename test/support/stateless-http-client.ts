/** Requests without a session (MCP 2026-07-28) to an HTTP service, exactly as a test specifies them. */
import type { OutgoingHttpHeaders } from 'node:http';
import { requestHeaders } from '../../src/protocol/mirrored-headers.js';
import { ask, type Reply } from './gateway-http-client.js';

export const NEW = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol/';

export interface Stateless {
  /** Default: none. */
  readonly capabilities?: object;
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly headers?: OutgoingHttpHeaders;
  readonly path?: string;
  readonly id?: string | number;
}

export function metaOf({ capabilities = {}, meta = {} }: Stateless = {}): Record<string, unknown> {
  return {
    [`${PREFIX}protocolVersion`]: NEW,
    [`${PREFIX}clientInfo`]: { name: 'raw', version: '1' },
    [`${PREFIX}clientCapabilities`]: capabilities,
    ...meta,
  };
}

/** Sends one request; the answer is JSON or a stream. */
export function send(
  port: number,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  about: Stateless = {},
): Promise<Reply> {
  const { headers, path, id = 1 } = about;
  return ask(port, {
    body: { jsonrpc: '2.0', id, method, params: { ...params, _meta: metaOf(about) } },
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...requestHeaders(NEW, method, params),
      ...headers,
    },
    ...(path !== undefined && { path }),
  });
}

export interface Answer {
  readonly status: number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  /** The notifications before it. */
  readonly before: readonly Readonly<Record<string, unknown>>[];
}

/** Sends one request and reads its whole answer. */
export async function exchange(
  port: number,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  about: Stateless = {},
): Promise<Answer> {
  const reply = await send(port, method, params, about);
  const { status } = reply;
  const isStream = reply.headers['content-type'] === 'text/event-stream';
  const messages = isStream ? await reply.messages() : [await reply.json()];
  return { status, before: messages.slice(0, -1), ...messages.at(-1) };
}
