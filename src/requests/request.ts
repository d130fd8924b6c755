/**
 * `src/requests` makes the requests of hosts other than tool calls. This file is one such request. It is safe to
 * repeat.
 *
 * Q1. It settles exactly once, with the errors of a call; its limits and its signal hold from the first wait to the
 *     last answer.
 * Q2. It is sent once, and once more if its session broke. A request that never reached the server is sent again within
 *     its limits (`calls/retry-loop.ts`).
 * Q3. It is sent only to a server that has declared the capability for it.
 */
import type { CallPorts, InternalCallOptions } from '../calls/call.js';
import type { Deadline } from '../calls/deadline.js';
import type { Exchange } from '../calls/exchange.js';
import { notifyProgress } from '../calls/progress-listener.js';
import { cutText } from '../text/visible-text.js';
import type { JsonObject } from '../json/json-object.js';
import { RequestLostError, type Progress, type ProtocolClient } from '../protocol/protocol-client.js';
import type { Session } from '../sessions/sessions.js';
import type { OptionNames } from '../text/option-names.js';
import type { ServerCapabilities } from '../mcp/session.js';
import { UnsupportedError } from '../errors.js';

/** Options of a request other than a tool call. */
export interface RequestOptions {
  /** Aborts the request, and cancels it at the server. */
  readonly signal?: AbortSignal;
  /**
   * Milliseconds without an answer; the wait for a session may take as long. 0 = no limit. Default: the server's
   * `callTimeoutMs`, else 60,000.
   */
  readonly timeoutMs?: number;
  /** Milliseconds for the whole request, waits and a repetition included. 0 = no limit. Default: six times `timeoutMs`. */
  readonly totalTimeoutMs?: number;
  /** As the option `context` of a tool call. */
  readonly context?: unknown;
  /** Called with the server's progress; each report restarts the wait for the answer. */
  readonly onProgress?: (progress: Progress) => void;
}

export const REQUEST_OPTIONS: OptionNames<RequestOptions> = {
  signal: true,
  timeoutMs: true,
  totalTimeoutMs: true,
  context: true,
  onProgress: true,
};

/** The same, with what only the gateway knows. */
export interface InternalRequestOptions extends RequestOptions {
  /** As for a call. */
  readonly headers?: InternalCallOptions['headers'];
}

export interface Asked {
  readonly method: RequestMethod;
  readonly params: JsonObject;
  /** The subject of the request, for messages; empty if the method says it all. */
  readonly about: string;
  /** Returns what is wrong with an answer; undefined if nothing is. */
  readonly flawOf?: (answer: JsonObject) => string | undefined;
}

export type RequestPorts = Pick<CallPorts, 'clock' | 'mask' | 'publish'>;

export interface Answered {
  readonly answer: JsonObject;
  readonly session: Session;
}

const MAX_ABOUT = 200;

export class ServerRequest implements Exchange<Answered> {
  constructor(
    private readonly ports: RequestPorts,
    private readonly server: string,
    private readonly asked: Asked,
    readonly options: InternalRequestOptions,
    readonly timeoutMs: number,
  ) {}

  get args(): JsonObject {
    return this.asked.params;
  }

  get label(): string {
    const { method, about } = this.asked;
    return about === '' ? method : `${method} ${cutText(this.ports.mask(this.server)(about), MAX_ABOUT)}`;
  }

  prepare(session: Session): Error | undefined {
    return whyUnsupported(this.asked.method, session);
  }

  send(client: ProtocolClient, session: Session, deadline: Deadline): Promise<JsonObject> {
    const { method, params, about } = this.asked;
    const { context, onProgress, headers: received } = this.options;
    const headers = received && { received };
    const origin = { method, name: about, context };
    if (onProgress === undefined)
      return client.request(method, params, { signal: deadline, origin, headers });
    const heard = (progress: Progress): void => {
      deadline.renew();
      notifyProgress(this.ports, session, method, onProgress, progress);
    };
    return client.request(method, params, { signal: deadline, origin, onProgress: heard, headers });
  }

  accept(answer: JsonObject, session: Session): Answered {
    const flaw = this.asked.flawOf?.(answer);
    if (flaw !== undefined) throw new RequestLostError({ code: 'protocol-error', message: flaw }, true);
    return { answer, session };
  }

  mayRepeat(): boolean {
    return true;
  }
}

// The capability that a server must have declared for each request (MCP specification, "Lifecycle", capabilities).

export type RequestMethod =
  | 'resources/read'
  | 'resources/subscribe'
  | 'resources/unsubscribe'
  | 'prompts/get'
  | 'completion/complete'
  | 'logging/setLevel';

const DECLARED: Readonly<Record<RequestMethod, (capabilities: ServerCapabilities) => boolean>> = {
  'resources/read': ({ resources }) => resources !== undefined,
  'resources/subscribe': ({ resources }) => resources?.subscribe === true,
  'resources/unsubscribe': ({ resources }) => resources?.subscribe === true,
  'prompts/get': ({ prompts }) => prompts !== undefined,
  'completion/complete': ({ completions }) => completions !== undefined,
  'logging/setLevel': ({ logging }) => logging !== undefined,
};

/** The error of a request that the server of a session does not support; undefined if it does. */
export function whyUnsupported(method: RequestMethod, session: Session): UnsupportedError | undefined {
  if (DECLARED[method](session.capabilities)) return undefined;
  const { name } = session.key;
  return new UnsupportedError(`'${name}' does not offer ${method}, so it was not sent.`, { server: name });
}
