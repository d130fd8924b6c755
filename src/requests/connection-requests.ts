/**
 * What can be asked of one server beside calls, by its own names. Keeps what subscriptions are on their way; those that
 * the server has said yes to are wishes.
 */
import type {
  CompleteResult,
  GetPromptResult,
  LoggingLevel,
  ReadResourceResult,
} from '@modelcontextprotocol/sdk/types.js';
import type { CallRoute } from '../calls/call.js';
import { callProblem } from '../calls/call-problem.js';
import { whenGivenUp } from '../caller-signal.js';
import type { JsonObject } from '../protocol/protocol-client.js';
import {
  makeRequest,
  tellSession,
  type Answered,
  type RequestOptions,
  type RequestPorts,
  type ServerRequest,
} from './request.js';
import { whyNotOffered } from './offers.js';
import type { Wishes } from './wishes.js';

/** What is completed: an argument of a prompt, or a variable of a resource template. */
export type CompletionRef =
  | { readonly type: 'ref/prompt'; readonly name: string }
  /** `uri` is the URI template. */
  | { readonly type: 'ref/resource'; readonly uri: string };

/** The argument or variable, and what of its value there is so far. */
export interface CompletionArgument {
  readonly name: string;
  readonly value: string;
}

export interface CompletionOptions extends RequestOptions {
  /** Values of other arguments or variables, as far as they are known. */
  readonly context?: Readonly<Record<string, string>>;
}

export type Completion = CompleteResult['completion'];

/** From the most to the least talkative (RFC 5424). */
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
  readonly wishes: Wishes;
  readonly timeoutMs: () => number;
}

type Asked = Pick<ServerRequest, 'method' | 'params' | 'about' | 'flawOf'>;

const AN_UNSUBSCRIBE = new Error('It was unsubscribed meanwhile.');

export class ConnectionRequests {
  /** Subscriptions without an answer, by URI; undefined before the first. */
  #subscribing: Map<string, Set<AbortController>> | undefined;

  constructor(
    private readonly ports: ConnectionRequestPorts,
    private readonly route: CallRoute,
  ) {}

  async readResource(uri: string, options: RequestOptions = {}): Promise<ReadResourceResult> {
    const flawOf = listIn('contents');
    const { answer } = await this.#ask(aboutUri('resources/read', uri, flawOf), options);
    return answer as ReadResourceResult;
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: RequestOptions = {},
  ): Promise<GetPromptResult> {
    requirePromptName(name);
    requireTexts(args, 'The arguments of a prompt');
    const params = { name, arguments: args };
    const flawOf = listIn('messages');
    const { answer } = await this.#ask({ method: 'prompts/get', params, about: name, flawOf }, options);
    return answer as GetPromptResult;
  }

  async complete(
    ref: CompletionRef,
    argument: CompletionArgument,
    { context, ...options }: CompletionOptions = {},
  ): Promise<Completion> {
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
    const { answer } = await this.#ask(asked, options);
    return answer['completion'] as Completion;
  }

  /**
   * Sends a request as it is and gives the whole answer, whatever it holds.
   *
   * @internal
   */
  async pass(
    method: ServerRequest['method'],
    params: JsonObject,
    about: string,
    options: RequestOptions,
  ): Promise<JsonObject> {
    const { answer } = await this.#ask({ method, params, about }, options);
    return answer;
  }

  /** Whether there is a subscription, or one is on its way. */
  isSubscribed(uri: string): boolean {
    return this.#subscribing?.has(uri) === true || this.ports.wishes.isSubscribed(this.route.server, uri);
  }

  /** Whether there is a session now that takes a log level. */
  get takesLogLevel(): boolean {
    const session = this.route.session();
    return session !== undefined && whyNotOffered('logging/setLevel', session) === undefined;
  }

  /** Asked for again it is sent again, and does not count twice. */
  async subscribe(uri: string, options: RequestOptions = {}): Promise<void> {
    const asked = aboutUri('resources/subscribe', uri);
    this.#check(options);
    const { signal } = options;
    const withdrawal = new AbortController();
    const giveUp = { handleEvent: () => withdrawal.abort(signal?.reason) };
    if (signal?.aborted === true) giveUp.handleEvent();
    const leave = signal && whenGivenUp(signal, giveUp);
    const subscribing = (this.#subscribing ??= new Map<string, Set<AbortController>>());
    const others = subscribing.get(uri) ?? new Set();
    subscribing.set(uri, others.add(withdrawal));
    try {
      const { session } = await this.#ask(asked, { ...options, signal: withdrawal.signal });
      if (!withdrawal.signal.aborted) this.ports.wishes.subscribed(session, uri);
    } finally {
      leave?.();
      others.delete(withdrawal);
      if (others.size === 0) subscribing.delete(uri);
    }
  }

  /** The server is told where there is a session; a later one hears nothing of the subscription. */
  async unsubscribe(uri: string, options: RequestOptions = {}): Promise<void> {
    const asked = aboutUri('resources/unsubscribe', uri);
    this.#check(options);
    this.ports.wishes.unsubscribe(this.route.server, uri);
    for (const each of this.#subscribing?.get(uri) ?? []) each.abort(AN_UNSUBSCRIBE);
    const session = this.route.session();
    if (session !== undefined) {
      await tellSession(this.ports.calls, this.route, session, this.#toRequest(asked, options));
    }
  }

  async setLogLevel(level: LoggingLevel, options: RequestOptions = {}): Promise<void> {
    requireLevel(level);
    const asked = { method: 'logging/setLevel', params: { level }, about: '' } as const;
    const { session } = await this.#ask(asked, options);
    this.ports.wishes.levelSet(session, level);
  }

  async #ask(asked: Asked, options: RequestOptions): Promise<Answered> {
    this.#check(options);
    return makeRequest(this.ports.calls, this.route, this.#toRequest(asked, options));
  }

  #check(options: RequestOptions): void {
    const problem = callProblem({}, options);
    if (problem !== undefined) throw problem;
  }

  #toRequest(asked: Asked, options: RequestOptions): ServerRequest {
    return { ...asked, timeoutMs: options.timeoutMs ?? this.ports.timeoutMs(), options };
  }
}

/** Throws a `TypeError` for what is no level. */
export function requireLevel(level: LoggingLevel): void {
  if (LOG_LEVELS.includes(level)) return;
  throw new TypeError(`The log level must be one of ${LOG_LEVELS.join(', ')}.`);
}

function aboutUri(method: Asked['method'], uri: string, flawOf?: ServerRequest['flawOf']): Asked {
  requireUri(uri);
  return { method, params: { uri }, about: uri, ...(flawOf === undefined ? {} : { flawOf }) };
}

export function requireUri(uri: string): void {
  requireText(uri, 'The URI of a resource');
}

export function requirePromptName(name: string): void {
  requireText(name, 'The name of a prompt');
}

/** Throws a `TypeError` for what can be no `CompletionRef`. */
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
  if (typeof value !== 'string') throw new TypeError('The value of the argument must be a text.');
}

function requireText(value: unknown, what: string): void {
  if (typeof value === 'string' && value !== '') return;
  throw new TypeError(`${what} must be a text that is not empty.`);
}

function requireTexts(value: unknown, what: string): void {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isRecord && Object.values(value).every((each) => typeof each === 'string')) return;
  throw new TypeError(`${what} must be an object of texts.`);
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
