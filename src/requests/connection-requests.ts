/**
 * The requests to one server other than calls, by the server's own names. Keeps subscriptions without an answer; those
 * that the server accepted are session preferences.
 */
import type { CompleteResult, GetPromptResult, ReadResourceResult } from '../mcp/server-offers.js';
import type { LoggingLevel } from '../mcp/session.js';
import type { CallRoute } from '../calls/call-route.js';
import { callProblem } from '../calls/call-problem.js';
import { RetryLoop } from '../calls/retry-loop.js';
import { onAbort } from '../async/abort.js';
import type { JsonObject } from '../json/json-object.js';
import { requireKnown } from '../text/option-names.js';
import {
  REQUEST_OPTIONS,
  ServerRequest,
  type Answered,
  type Asked,
  type InternalRequestOptions,
  type RequestOptions,
  type RequestPorts,
  whyUnsupported,
} from './request.js';
import type { SessionPreferences } from './session-preferences.js';

/** What to complete: an argument of a prompt, or a variable of a resource template. */
export type CompletionRef =
  /** An argument of a prompt. */
  | {
      readonly type: 'ref/prompt';
      /** Name of the prompt: the exposed one for a troupe or a view, the server's own for a connection. */
      readonly name: string;
    }
  /** A variable of a resource template. */
  | {
      readonly type: 'ref/resource';
      /** The URI template, exactly as the server lists it. */
      readonly uri: string;
    };

/** The argument or variable, and the beginning of its value. */
export interface CompletionArgument {
  /** Name of the argument or variable. */
  readonly name: string;
  /** The beginning of its value; may be empty. */
  readonly value: string;
}

/** Options of a request for completions. */
export interface CompletionOptions extends RequestOptions {
  /** Known values of other arguments or variables. Default: none. */
  readonly context?: Readonly<Record<string, string>>;
}

/** Proposals of a server for the value of an argument (MCP `completion/complete`). */
export type Completion = CompleteResult['completion'];

/** From the most to the least verbose (RFC 5424). */
export const LOG_LEVELS: readonly LoggingLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

export interface ConnectionRequestPorts {
  readonly calls: RequestPorts;
  readonly wishes: SessionPreferences;
  readonly timeoutMs: () => number;
}

const AN_UNSUBSCRIBE = new Error('It was unsubscribed in the meantime.');

export class ConnectionRequests {
  /** Subscriptions without an answer, by URI; undefined before the first. */
  #subscribing: Map<string, Set<AbortController>> | undefined;

  constructor(
    private readonly ports: ConnectionRequestPorts,
    private readonly route: CallRoute,
  ) {}

  async readResource(uri: string, options: RequestOptions = {}): Promise<ReadResourceResult> {
    requireKnown('readResource', options, REQUEST_OPTIONS);
    const flawOf = listIn('contents');
    const { answer } = await this.#request(aboutUri('resources/read', uri, flawOf), options).run();
    return answer as ReadResourceResult;
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: RequestOptions = {},
  ): Promise<GetPromptResult> {
    requireKnown('getPrompt', options, REQUEST_OPTIONS);
    requirePromptName(name);
    requireTexts(args, 'The arguments of a prompt');
    const params = { name, arguments: args };
    const asked = { method: 'prompts/get', params, about: name, flawOf: listIn('messages') } as const;
    const { answer } = await this.#request(asked, options).run();
    return answer as GetPromptResult;
  }

  async complete(
    ref: CompletionRef,
    argument: CompletionArgument,
    given: CompletionOptions = {},
  ): Promise<Completion> {
    requireKnown('complete', given, REQUEST_OPTIONS);
    const { context, ...options } = given;
    requireRef(ref);
    requireArgument(argument);
    const about = ref.type === 'ref/prompt' ? ref.name : ref.uri;
    if (context !== undefined) requireTexts(context, 'The context of a completion');
    const { name, value } = argument;
    const params = {
      ref,
      argument: { name, value },
      ...(context === undefined ? {} : { context: { arguments: context } }),
    };
    const asked = { method: 'completion/complete', params, about, flawOf: flawOfCompletion } as const;
    const { answer } = await this.#request(asked, options).run();
    return answer['completion'] as Completion;
  }

  /**
   * Sends a request unchanged and returns the whole answer unchecked.
   *
   * @internal
   */
  async pass(
    method: Asked['method'],
    params: JsonObject,
    about: string,
    options: InternalRequestOptions,
  ): Promise<JsonObject> {
    const { answer } = await this.#request({ method, params, about }, options).run();
    return answer;
  }

  /** Whether there is a subscription, or a request for one. */
  isSubscribed(uri: string): boolean {
    return this.#subscribing?.has(uri) === true || this.ports.wishes.isSubscribed(this.route.server, uri);
  }

  /** Whether there is a session now that supports log levels. */
  get takesLogLevel(): boolean {
    const session = this.route.session();
    return session !== undefined && whyUnsupported('logging/setLevel', session) === undefined;
  }

  /** A repeated subscription is sent again, but does not count twice. */
  async subscribe(uri: string, options: RequestOptions = {}): Promise<void> {
    requireKnown('subscribe', options, REQUEST_OPTIONS);
    const asked = aboutUri('resources/subscribe', uri);
    requireOptions(options);
    const { signal } = options;
    const withdrawal = new AbortController();
    const giveUp = { handleEvent: () => withdrawal.abort(signal?.reason) };
    if (signal?.aborted === true) giveUp.handleEvent();
    const leave = signal && onAbort(signal, giveUp);
    const subscribing = (this.#subscribing ??= new Map<string, Set<AbortController>>());
    const others = subscribing.get(uri) ?? new Set();
    subscribing.set(uri, others.add(withdrawal));
    try {
      const { session } = await this.#request(asked, { ...options, signal: withdrawal.signal }).run();
      if (!withdrawal.signal.aborted) this.ports.wishes.subscribed(session, uri);
    } finally {
      leave?.();
      others.delete(withdrawal);
      if (others.size === 0) subscribing.delete(uri);
    }
  }

  /** Unsubscribes at the server if there is a session; later sessions are not subscribed. */
  async unsubscribe(uri: string, options: RequestOptions = {}): Promise<void> {
    requireKnown('unsubscribe', options, REQUEST_OPTIONS);
    const asked = aboutUri('resources/unsubscribe', uri);
    requireOptions(options);
    this.ports.wishes.unsubscribe(this.route.server, uri);
    for (const each of this.#subscribing?.get(uri) ?? []) each.abort(AN_UNSUBSCRIBE);
    const session = this.route.session();
    if (session !== undefined) await this.#request(asked, options).runOver(session);
  }

  async setLogLevel(level: LoggingLevel, options: RequestOptions = {}): Promise<void> {
    requireKnown('setLogLevel', options, REQUEST_OPTIONS);
    requireLevel(level);
    const asked = { method: 'logging/setLevel', params: { level }, about: '' } as const;
    const { session } = await this.#request(asked, options).run();
    this.ports.wishes.levelSet(session, level);
  }

  #request(asked: Asked, options: InternalRequestOptions): RetryLoop<Answered> {
    requireOptions(options);
    const { calls, timeoutMs } = this.ports;
    const limitMs = options.timeoutMs ?? timeoutMs();
    const request = new ServerRequest(calls, this.route.server, asked, options, limitMs);
    return new RetryLoop(calls, this.route, request);
  }
}

function requireOptions(options: RequestOptions): void {
  const problem = callProblem({}, options);
  if (problem !== undefined) throw problem;
}

/** Throws a `TypeError` if it is not a log level. */
export function requireLevel(level: LoggingLevel): void {
  if (LOG_LEVELS.includes(level)) return;
  throw new TypeError(`The log level must be one of ${LOG_LEVELS.join(', ')}.`);
}

function aboutUri(method: Asked['method'], uri: string, flawOf?: Asked['flawOf']): Asked {
  requireUri(uri);
  return { method, params: { uri }, about: uri, ...(flawOf === undefined ? {} : { flawOf }) };
}

export function requireUri(uri: string): void {
  requireText(uri, 'The URI of a resource');
}

export function requirePromptName(name: string): void {
  requireText(name, 'The name of a prompt');
}

/** Throws a `TypeError` if it is not a `CompletionRef`. */
export function requireRef(ref: CompletionRef): void {
  const { type, name, uri } = Object(ref) as Readonly<Record<string, unknown>>;
  if (type !== 'ref/prompt' && type !== 'ref/resource') {
    throw new TypeError("What is completed must be of the type 'ref/prompt' or 'ref/resource'.");
  }
  requireText(type === 'ref/prompt' ? name : uri, 'What is completed');
}

function requireArgument(argument: CompletionArgument): void {
  const { name, value } = Object(argument) as Readonly<Record<string, unknown>>;
  requireText(name, 'The name of the argument');
  if (typeof value !== 'string') throw new TypeError('The value of the argument must be a string.');
}

function requireText(value: unknown, what: string): void {
  if (typeof value === 'string' && value !== '') return;
  throw new TypeError(`${what} must be a string that is not empty.`);
}

function requireTexts(value: unknown, what: string): void {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isRecord && Object.values(value).every((each) => typeof each === 'string')) return;
  throw new TypeError(`${what} must be an object of strings.`);
}

function listIn(field: string): (answer: JsonObject) => string | undefined {
  return (answer) => (Array.isArray(answer[field]) ? undefined : `It has no list '${field}'.`);
}

function flawOfCompletion({ completion }: JsonObject): string | undefined {
  const values =
    typeof completion === 'object' && completion !== null && 'values' in completion
      ? completion.values
      : undefined;
  const isGood = Array.isArray(values) && values.every((value) => typeof value === 'string');
  return isGood ? undefined : "It has no 'completion' with a list of values.";
}
