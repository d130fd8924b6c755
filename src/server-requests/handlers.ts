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
import { isJsonObject } from '../json/json-object.js';
import { BadAnswer, type Responder } from './responder.js';

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

// Validates the option `handlers`, and refuses declared capabilities that no handler can serve.

interface OptionProblem {
  readonly field: string;
  readonly message: string;
}

const ANSWERED = ['roots', 'sampling', 'elicitation'] as const;

export function handlersProblems(handlers: unknown, capabilities: unknown): readonly OptionProblem[] {
  if (handlers !== undefined && !isJsonObject(handlers)) {
    return [{ field: 'handlers', message: 'expected an object' }];
  }
  const { roots, sampling, elicitation } = handlers ?? {};
  const problems: OptionProblem[] = [];
  const expect = (isFine: boolean, field: string, what: string): void => {
    if (!isFine) problems.push({ field: `handlers.${field}`, message: `expected ${what}` });
  };
  expect(
    isUnset(roots) || isFunction(roots) || (Array.isArray(roots) && roots.every(isRoot)),
    'roots',
    "a function, or a list of { uri: 'file://…', name }",
  );
  expect(
    isUnset(sampling) || isFunction(sampling) || isSamplingOptions(sampling),
    'sampling',
    'a function, or { createMessage, tools, context }',
  );
  expect(
    isUnset(elicitation) || isFunction(elicitation) || isElicitationHandlers(elicitation),
    'elicitation',
    "a function, or an object with the functions 'form' and 'url', or one of them",
  );
  for (const name of ANSWERED) {
    const isDeclared = isJsonObject(capabilities) && !isUnset(capabilities[name]);
    if (!isDeclared || !isUnset(handlers?.[name])) continue;
    problems.push({ field: `capabilities.${name}`, message: `needs 'handlers.${name}', which answers` });
  }
  return problems;
}

function isSamplingOptions(sampling: unknown): boolean {
  if (!isJsonObject(sampling)) return false;
  const { createMessage, tools, context } = sampling;
  return isFunction(createMessage) && [tools, context].every((flag) => isUnset(flag) || isFlag(flag));
}

function isElicitationHandlers(elicitation: unknown): boolean {
  if (!isJsonObject(elicitation)) return false;
  const given = [elicitation['form'], elicitation['url']].filter((handler) => !isUnset(handler));
  return given.length > 0 && given.every(isFunction);
}

function isUnset(value: unknown): boolean {
  return value === undefined;
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

function isFlag(value: unknown): boolean {
  return typeof value === 'boolean';
}

// Answers `roots/list` (MCP specification, "Roots").

export function answerRoots(handler: RootsHandler): Responder {
  return {
    isQuestion: false,
    respond: async (_, about) => {
      const roots: unknown = typeof handler === 'function' ? await handler(about) : handler;
      if (!Array.isArray(roots)) throw new BadAnswer('roots are a list.');
      if (!roots.every(isRoot)) throw new BadAnswer('each root has a uri that starts with file://.');
      return { isRefused: false, answer: { roots } };
    },
  };
}

/** A root with a `file://` address; the specification allows no others. */
export function isRoot(root: unknown): boolean {
  if (!isJsonObject(root)) return false;
  const { uri, name } = root;
  const isFile = typeof uri === 'string' && uri.startsWith('file://');
  return isFile && (name === undefined || typeof name === 'string');
}
