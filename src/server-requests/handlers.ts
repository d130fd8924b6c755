/**
 * What a host may answer for its servers: where it works (roots), what a model says (sampling), what a person says
 * (elicitation). A capability is declared where there is a handler for it, and only there.
 */
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  ElicitResult,
  Root,
} from '@modelcontextprotocol/sdk/types.js';
import type { RequestOrigin } from '../protocol/protocol-client.js';

/** What is known of a question beside its content. */
export interface ServerRequestContext {
  /** Name of the server that asks. */
  readonly server: string;
  /** Number of the session within its connection. */
  readonly generation: number;
  /** Aborts when the server takes the question back, and when its session ends. An answer is then sent nowhere. */
  readonly signal: AbortSignal;
  /**
   * What of ours made the server ask. Known where the server says so (the stream or the message it came on), and where
   * only one request can have been the cause: one that was given up (aborted, timed out) and never answered counts for ten
   * minutes, since the server may be at it still. Undefined otherwise: never a guess.
   */
  readonly origin: RequestOrigin | undefined;
}

/** Roots are `file://` addresses. A function is asked for each request of a server. */
export type RootsHandler =
  readonly Root[] | ((about: ServerRequestContext) => readonly Root[] | Promise<readonly Root[]>);

/** Has a model answer. `refused` says no to the server, as a person may. */
export type SamplingHandler = (
  request: CreateMessageRequestParams,
  about: ServerRequestContext,
) => Promise<SamplingAnswer>;

export type SamplingAnswer = CreateMessageResult | CreateMessageResultWithTools | 'refused';

/** A handler, and what it can do. */
export interface SamplingOptions {
  readonly createMessage: SamplingHandler;
  /** It obeys `tools` and `toolChoice`; a server that sends them otherwise is refused. Default false. */
  readonly tools?: boolean;
  /** It obeys `includeContext`. Default false. */
  readonly context?: boolean;
}

/**
 * Shows a form to a person. Answers that lack a field get the default that the server wrote for it; an answer that does
 * not fit the form is not sent.
 */
export type FormHandler = (
  request: ElicitRequestFormParams,
  about: ServerRequestContext,
) => ElicitResult | Promise<ElicitResult>;

/**
 * Asks a person whether to open an address, with its host in plain sight, and opens it. `accept` says that the person
 * agreed, not that what is behind the address is done: an `elicitation.completed` event may tell that.
 */
export type UrlHandler = (
  request: ElicitRequestURLParams,
  about: ServerRequestContext,
) => ElicitResult | Promise<ElicitResult>;

/** Which kinds of questions to a person there is a handler for. */
export interface ElicitationHandlers {
  readonly form?: FormHandler;
  readonly url?: UrlHandler;
}

/** One function for both kinds tells them apart by `mode`. */
export type ElicitationHandler = (
  request: ElicitRequestFormParams | ElicitRequestURLParams,
  about: ServerRequestContext,
) => ElicitResult | Promise<ElicitResult>;

/**
 * Answers to what servers ask. While a sampling or an elicitation is answered, no clock of a call over that session goes
 * on. A handler that throws is told as a `diagnostic`, and the server gets an error without its message.
 */
export interface ServerRequestHandlers {
  /** Where the host works. Call `rootsChanged()` where that changes. */
  readonly roots?: RootsHandler;
  /** A function alone obeys neither tools nor context. */
  readonly sampling?: SamplingHandler | SamplingOptions;
  readonly elicitation?: ElicitationHandler | ElicitationHandlers;
}
