/**
 * The handlers with which a host answers its servers, and the capabilities that follow from them: where it works
 * (roots), what a model says (sampling), what a person says (elicitation). A capability is declared only if there is a
 * handler for it.
 */
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  ElicitResult,
  Root,
} from '../mcp/host-requests.js';
import type { ClientCapabilities } from '../mcp/session.js';
import type { RequestOrigin } from '../protocol/protocol-client.js';

/** What is known of a request of a server, besides its content. */
export interface ServerRequestContext {
  /** Name of the server that asks. */
  readonly server: string;
  /** Number of the session within its connection. */
  readonly generation: number;
  /** Aborts when the server cancels the request, and when its session ends. The answer is then dropped. */
  readonly signal: AbortSignal;
  /**
   * The request of the host that made the server ask. Known if the stream or message that it came on says so, or if
   * only one request can be the cause. A request that was given up (aborted, timed out) and not answered counts for ten
   * minutes, since the server may still work on it. Otherwise undefined: never a guess.
   */
  readonly origin: RequestOrigin | undefined;
}

/** Roots are `file://` addresses. A function is called for each request of a server. */
export type RootsHandler =
  readonly Root[] | ((about: ServerRequestContext) => readonly Root[] | Promise<readonly Root[]>);

/**
 * Lets a model answer. `refused` tells the server that the person or the host declined.
 *
 * @param request The server's request (MCP 2025-11-25, Sampling).
 * @param about The server, its session, and a signal that aborts when the answer is no longer needed.
 */
export type SamplingHandler = (
  request: CreateMessageRequestParams,
  about: ServerRequestContext,
) => Promise<SamplingAnswer>;

/** The message of the model, or `refused` if the person or the host declines. */
export type SamplingAnswer = CreateMessageResult | CreateMessageResultWithTools | 'refused';

/** A handler, and what it supports. */
export interface SamplingOptions {
  /** Samples a message from the host's model. */
  readonly createMessage: SamplingHandler;
  /** True if it obeys `tools` and `toolChoice`; otherwise requests with these are refused. Default false. */
  readonly tools?: boolean;
  /** True if it obeys `includeContext`. Default false. */
  readonly context?: boolean;
}

/**
 * Shows a form to a person. A missing field gets the server's default; an answer that does not fit the form is not
 * sent.
 *
 * @param request The server's request (MCP 2025-11-25, Elicitation); `requestedSchema` describes the form.
 * @param about The server, its session, and a signal that aborts when the answer is no longer needed.
 */
export type FormHandler = (
  request: ElicitRequestFormParams,
  about: ServerRequestContext,
) => ElicitResult | Promise<ElicitResult>;

/**
 * Asks a person whether to open an address, with its host in plain sight, and opens it. `accept` means that the person
 * agreed, not that the interaction at the address is complete; an `elicitation.completed` event may report that.
 *
 * @param request The server's request (MCP 2025-11-25, Elicitation); `url` is the address.
 * @param about The server, its session, and a signal that aborts when the answer is no longer needed.
 */
export type UrlHandler = (
  request: ElicitRequestURLParams,
  about: ServerRequestContext,
) => ElicitResult | Promise<ElicitResult>;

/** A handler for each kind of question to a person. */
export interface ElicitationHandlers {
  /** Asks a person to fill in a form. Absent: forms are not supported. */
  readonly form?: FormHandler;
  /** Asks a person to open an address. Absent: URL elicitations are not supported. */
  readonly url?: UrlHandler;
}

/**
 * One function for both kinds; `mode` says which one it is.
 *
 * @param request The server's request (MCP 2025-11-25, Elicitation).
 * @param about The server, its session, and a signal that aborts when the answer is no longer needed.
 */
export type ElicitationHandler = (
  request: ElicitRequestFormParams | ElicitRequestURLParams,
  about: ServerRequestContext,
) => ElicitResult | Promise<ElicitResult>;

/**
 * Answers to requests of servers. While a person or a model answers, timeouts of calls over that session stand still.
 * If a handler throws, a `diagnostic` is published, and the server gets an error without its message.
 */
export interface ServerRequestHandlers {
  /** The folders in which the host works. Call `rootsChanged()` when they change. */
  readonly roots?: RootsHandler;
  /** A function alone does not obey tools or context. */
  readonly sampling?: SamplingHandler | SamplingOptions;
  /** Asks a person. A function alone handles forms and addresses. */
  readonly elicitation?: ElicitationHandler | ElicitationHandlers;
}

/** The capabilities to declare in a handshake. A field of `given` adds to what its handler implies. */
export function clientCapabilities(
  { roots, sampling, elicitation }: ServerRequestHandlers = {},
  given: ClientCapabilities = {},
): ClientCapabilities {
  return {
    ...given,
    ...(roots !== undefined && { roots: { listChanged: true, ...given.roots } }),
    ...(sampling !== undefined && { sampling: { ...samplingModes(sampling), ...given.sampling } }),
    ...(elicitation !== undefined && {
      elicitation: { ...elicitationModes(elicitation), ...given.elicitation },
    }),
  };
}

function samplingModes(
  sampling: NonNullable<ServerRequestHandlers['sampling']>,
): NonNullable<ClientCapabilities['sampling']> {
  if (typeof sampling === 'function') return {};
  return {
    ...(sampling.tools === true && { tools: {} }),
    ...(sampling.context === true && { context: {} }),
  };
}

function elicitationModes(
  elicitation: NonNullable<ServerRequestHandlers['elicitation']>,
): NonNullable<ClientCapabilities['elicitation']> {
  if (typeof elicitation === 'function') return { form: {}, url: {} };
  return {
    ...(elicitation.form !== undefined && { form: {} }),
    ...(elicitation.url !== undefined && { url: {} }),
  };
}
