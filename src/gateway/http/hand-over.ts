/**
 * Passes a request on to another host of the fleet and its answer back, as streams.
 *
 * O1. A request is carried out once at most: it goes to another host only if the first was not reached, or says that it did
 *     nothing (status 421). If a connection breaks after it was used, the outcome is unknown, and the client gets 502.
 * O2. Every request is signed for one host. The client's own token goes with it, and that host checks it again.
 * O3. Redirects are not followed, and addresses are those of http and https.
 * O4. Idle connections are closed before the other host closes them.
 * O5. If a host has left the fleet, requests that wait for its answer are given up.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  Agent,
  request as sendHttp,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import { Agent as TlsAgent, request as sendHttps } from 'node:https';
import type { DerivedKeys } from '../../fleet/fleet-key.js';
import { NOT_HERE, SIGNATURE_HEADER, signRequest } from '../../fleet/signed-request.js';
import type { Clock } from '../../ports.js';
import { reasonOf } from '../../text/error-message.js';
import { parseUrl } from '../../text/parse-url.js';
import { RPC, rpcError } from '../client/client-message.js';
import { answerJson } from './http-answers.js';
import { SESSION_HEADER } from './http-client-session.js';

/** What came of an attempt. After `answered`, the client has an answer; after the others, nothing has happened. */
export type Outcome = 'answered' | 'not-there' | 'out-of-reach';

/** A request to another host. */
export interface Passed {
  readonly purpose: string;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** A host that can be asked. */
export interface Peer {
  readonly id: string;
  readonly address: string;
}

/** Clearly less than `KEEP_ALIVE_MS` of the service. */
const IDLE_MS = 30_000;
const CONNECT_MS = 3_000;
/** Errors that say that no program listens there. */
const NOBODY_THERE: ReadonlySet<string> = new Set(['ECONNREFUSED']);
/** Headers that belong to one connection (RFC 9110, section 7.6.1), and headers that are written anew. */
const OF_ONE_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);
const WRITTEN_ANEW: ReadonlySet<string> = new Set(['host', 'content-length', SIGNATURE_HEADER]);

export interface HandOverParts {
  /** Name of this host. */
  readonly self: string;
  readonly keys: DerivedKeys;
  readonly clock: Clock;
}

export class HandOver {
  readonly #parts: HandOverParts;
  readonly #agents = {
    'http:': new Agent({ keepAlive: true, timeout: IDLE_MS }),
    'https:': new TlsAgent({ keepAlive: true, timeout: IDLE_MS }),
  };
  /** Requests without an answer, or whose answer goes on, by host. */
  readonly #open = new Map<string, Set<ClientRequest>>();

  /** Responses to requests that were passed on. */
  readonly #answering = new Set<ServerResponse>();

  constructor(parts: HandOverParts) {
    this.#parts = parts;
  }

  /** The hosts for which something waits. */
  get awaited(): Iterable<string> {
    return this.#open.keys();
  }

  /** Resolves when every request that was passed on is answered, except streams that clients opened with GET. */
  settled(): Promise<unknown> {
    return Promise.all([...this.#answering].map((response) => once(response, 'close')));
  }

  /** Never rejects. */
  async pass(to: Peer, passed: Passed, response: ServerResponse): Promise<Outcome> {
    const sent = this.#send(to, passed);
    if (sent === undefined) return 'not-there';
    const leave = (): void => {
      this.#answering.delete(response);
      if (!response.writableFinished) sent.request.destroy();
    };
    response.once('close', leave);
    if (passed.method !== 'GET') this.#answering.add(response);
    const came = await sent.answer;
    if ('wasUsed' in came) {
      response.off('close', leave);
      this.#answering.delete(response);
      if (came.wasUsed) answerUnknown(response);
      return came.wasUsed ? 'answered' : outcomeOf(came.error);
    }
    if (came.statusCode === NOT_HERE) {
      response.off('close', leave);
      this.#answering.delete(response);
      came.resume();
      return 'not-there';
    }
    response.writeHead(came.statusCode ?? 502, answerHeaders(came.headers));
    response.flushHeaders();
    came.pipe(response);
    came.once('close', () => {
      if (!came.complete) response.destroy();
    });
    return 'answered';
  }

  /** The status of the answer; undefined if there was none. Never rejects. */
  async ask(to: Peer, passed: Passed): Promise<number | undefined> {
    const came = await this.#send(to, passed)?.answer;
    if (came === undefined || 'wasUsed' in came) return undefined;
    came.resume();
    return came.statusCode;
  }

  /** Gives up what waits for that host. */
  giveUp(host: string): void {
    for (const request of this.#open.get(host) ?? []) request.destroy();
  }

  close(): void {
    for (const host of [...this.#open.keys()]) this.giveUp(host);
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  /** Undefined unless requests may go to that address. */
  #send(
    { id, address }: Peer,
    { purpose, method, path, headers, body }: Passed,
  ): { readonly request: ClientRequest; readonly answer: Promise<IncomingMessage | Broken> } | undefined {
    const url = parseUrl(address);
    if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return undefined;
    const { self, keys, clock } = this.#parts;
    const session = headers[SESSION_HEADER] ?? '';
    const signature = signRequest(
      keys,
      { method, path, session, headers, body },
      { purpose, from: self, to: id },
      { at: clock.now(), nonce: randomBytes(16).toString('base64url') },
    );
    const isTls = url.protocol === 'https:';
    const request = (isTls ? sendHttps : sendHttp)({
      agent: this.#agents[url.protocol],
      protocol: url.protocol,
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port,
      path: url.pathname.replace(/\/$/, '') + path,
      method,
      headers: { ...headers, [SIGNATURE_HEADER]: signature, 'content-length': body.byteLength },
    });
    this.#keep(id, request);
    const answer = this.#answerTo(request, isTls ? 'secureConnect' : 'connect');
    request.end(body);
    return { request, answer };
  }

  #answerTo(request: ClientRequest, connected: string): Promise<IncomingMessage | Broken> {
    return new Promise((resolve) => {
      let wasUsed = false;
      const use = (): void => void (wasUsed = true);
      request.once('socket', (socket) => {
        if (request.reusedSocket || !socket.connecting) return use();
        const { clock } = this.#parts;
        const timer = clock.setTimeout(() => request.destroy(new Error('ETIMEDOUT')), CONNECT_MS);
        socket.once(connected, use);
        for (const event of [connected, 'close']) socket.once(event, () => clock.clearTimeout(timer));
      });
      request.once('response', resolve);
      request.on('error', (error) => resolve({ wasUsed, error }));
      request.once('close', () => resolve({ wasUsed, error: new Error('closed') }));
    });
  }

  #keep(host: string, request: ClientRequest): void {
    const open = this.#open.get(host) ?? new Set();
    this.#open.set(host, open.add(request));
    request.once('close', () => {
      open.delete(request);
      if (open.size === 0 && this.#open.get(host) === open) this.#open.delete(host);
    });
  }
}

interface Broken {
  readonly error: Error;
  /** Whether the connection was open, so that the request may have arrived. */
  readonly wasUsed: boolean;
}

/** The headers that go with a request to another host. */
export function passedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const isLeft = OF_ONE_HOP.has(name) || WRITTEN_ANEW.has(name) || named.has(name);
    if (!isLeft && typeof value === 'string') passed[name] = value;
  }
  return passed;
}

function answerHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_ONE_HOP.has(name)));
}

function outcomeOf(error: Error): Outcome {
  return NOBODY_THERE.has(reasonOf(error)) ? 'not-there' : 'out-of-reach';
}

function answerUnknown(response: ServerResponse): void {
  if (response.destroyed || response.headersSent) return;
  const error =
    'The connection to the host of the session broke: whether the request was carried out is unknown.';
  answerJson(response, 502, rpcError(null, RPC.serverError, error, { code: 'outcome-unknown' }));
}
