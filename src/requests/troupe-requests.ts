/**
 * The requests to a troupe other than calls: finds the server by the lists, and sends it the request.
 *
 * A request just after a start may come before the lists are read: if nothing is found, it searches again after that.
 */
import { hasTag, type PublicState } from '../../machines/connection/connection.states.js';
import type { GetPromptResult, ReadResourceResult } from '../mcp/server-offers.js';
import type { LoggingLevel } from '../mcp/session.js';
import { Deadline, Aborted, limitsOf, TimedOut } from '../calls/deadline.js';
import { fitsTemplate, type CatalogResource, type CatalogResourceTemplate } from '../catalog/resource.js';
import type { CatalogPrompt } from '../catalog/prompt.js';
import { nearestName, requireKnown, type OptionNames } from '../text/option-names.js';
import { CallAbortedError, NotFoundError } from '../errors.js';
import type { LifecycleEventBody } from '../lifecycle/event.js';
import type { ServerStatus } from '../lifecycle/status.js';
import { DEFAULT_CALL_TIMEOUT_MS } from '../config/entry/server-config.js';
import type { Clock } from '../ports.js';
import { messageOf } from '../text/error-message.js';
import { unavailableServers } from './unknown-tool.js';
import { REQUEST_OPTIONS, type RequestOptions } from './request.js';
import {
  requireLevel,
  requirePromptName,
  requireRef,
  requireUri,
  type Completion,
  type CompletionArgument,
  type CompletionOptions,
  type CompletionRef,
  type ConnectionRequests,
} from './connection-requests.js';
import type { SessionPreferences } from './session-preferences.js';

/** Selects the server. */
export interface ServerScope {
  /** Name of the server. Default: the only one that lists it. */
  readonly server?: string;
}

/** Options of a request for a resource. */
export type ResourceOptions = RequestOptions & ServerScope;

const SCOPED_OPTIONS: OptionNames<ResourceOptions> = { ...REQUEST_OPTIONS, server: true };

/** The lists that are visible. */
export interface SeenLists {
  readonly resources: readonly CatalogResource[];
  readonly resourceTemplates: readonly CatalogResourceTemplate[];
  readonly prompts: readonly CatalogPrompt[];
  readonly status: readonly ServerStatus[];
  prompt(name: string): CatalogPrompt | undefined;
}

/** A server that accepts requests. */
export interface AskedServer {
  readonly name: string;
  readonly present: PublicState;
  readonly requests: ConnectionRequests;
}

export interface TroupeRequestPorts {
  readonly clock: Clock;
  readonly lists: SeenLists;
  readonly servers: () => Iterable<AskedServer>;
  /** Why no request can be sent, now or ever again; undefined if it can. */
  readonly whyIdle: () => Error | undefined;
  /** As `Publisher.until`. */
  readonly until: (isTrue: () => boolean, signal?: AbortSignal) => Promise<void>;
  readonly publish: (event: LifecycleEventBody) => void;
  readonly wishes: SessionPreferences;
}

export class TroupeRequests {
  constructor(private readonly ports: TroupeRequestPorts) {}

  /** The same for some of the servers. */
  among(lists: SeenLists, sees: (server: string) => boolean): TroupeRequests {
    const servers = (): AskedServer[] => [...this.ports.servers()].filter(({ name }) => sees(name));
    return new TroupeRequests({ ...this.ports, lists, servers });
  }

  async readResource(uri: string, given: ResourceOptions = {}): Promise<ReadResourceResult> {
    requireKnown('readResource', given, SCOPED_OPTIONS);
    const { server, ...options } = given;
    const asked = await this.#serverOf(uri, server, options);
    return asked.readResource(uri, options);
  }

  async subscribe(uri: string, given: ResourceOptions = {}): Promise<void> {
    requireKnown('subscribe', given, SCOPED_OPTIONS);
    const { server, ...options } = given;
    const asked = await this.#serverOf(uri, server, options);
    await asked.subscribe(uri, options);
  }

  /** No error if there is no such subscription. */
  async unsubscribe(uri: string, given: ResourceOptions = {}): Promise<void> {
    requireKnown('unsubscribe', given, SCOPED_OPTIONS);
    const { server, ...options } = given;
    const asked = server === undefined ? this.#subscribedTo(uri) : [this.#named(server)];
    await Promise.all(asked.map((requests) => requests.unsubscribe(uri, options)));
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: RequestOptions = {},
  ): Promise<GetPromptResult> {
    requireKnown('getPrompt', options, REQUEST_OPTIONS);
    const { server, prompt } = await this.#prompt(name, options);
    return this.#named(server).getPrompt(prompt, args, options);
  }

  async complete(
    ref: CompletionRef,
    argument: CompletionArgument,
    given: CompletionOptions & ServerScope = {},
  ): Promise<Completion> {
    requireKnown('complete', given, SCOPED_OPTIONS);
    const { server, ...options } = given;
    requireRef(ref);
    if (ref.type === 'ref/prompt') {
      const found = await this.#prompt(ref.name, options);
      return this.#named(found.server).complete({ ...ref, name: found.prompt }, argument, options);
    }
    const asked = await this.#serverOf(ref.uri, server, options);
    return asked.complete(ref, argument, options);
  }

  /**
   * Without a server: for all servers, later ones included. It is set at once in each session that supports it; if a
   * server refuses, that is a diagnostic.
   */
  async setLogLevel(level: LoggingLevel, given: ResourceOptions = {}): Promise<void> {
    requireKnown('setLogLevel', given, SCOPED_OPTIONS);
    const { server, ...options } = given;
    if (server !== undefined) return this.#named(server).setLogLevel(level, options);
    requireLevel(level);
    this.ports.wishes.setLevelOfAll(level);
    const asked = [...this.ports.servers()].filter(({ requests }) => requests.takesLogLevel);
    await Promise.all(
      asked.map(({ name, requests }) =>
        requests.setLogLevel(level, options).catch((error: unknown) => {
          const why = messageOf(error);
          const message = `The log level '${level}' was not set: ${why}`;
          this.ports.publish({ type: 'diagnostic', server: name, kind: 'log-level', message });
        }),
      ),
    );
  }

  #named(server: string): ConnectionRequests {
    const servers = [...this.ports.servers()];
    const found = servers.find(({ name }) => name === server);
    if (found !== undefined) return found.requests;
    this.#requireOpen();
    const names = servers.map(({ name }) => name);
    throw new NotFoundError(`No server is called '${server}'.${didYouMean(server, names)}`, { server });
  }

  #subscribedTo(uri: string): ConnectionRequests[] {
    return [...this.ports.servers()]
      .map(({ requests }) => requests)
      .filter((requests) => requests.isSubscribed(uri));
  }

  /** The server of a resource, or of a resource template, by the lists. */
  async #serverOf(
    uri: string,
    server: string | undefined,
    options: RequestOptions,
  ): Promise<ConnectionRequests> {
    requireUri(uri);
    if (server !== undefined) return this.#named(server);
    const listing = await this.#found(() => this.#serversListing(uri), options);
    const [only, ...others] = listing ?? [];
    if (only === undefined) throw this.#unknownResource(uri);
    if (others.length === 0) return this.#named(only);
    const names = [only, ...others].map((name) => `'${name}'`).join(', ');
    throw new NotFoundError(
      `Several servers offer the resource '${uri}': ${names}. Name one of them with 'server'.`,
    );
  }

  /** The servers that list it, else those with a matching template; undefined if there are none. */
  #serversListing(uri: string): readonly string[] | undefined {
    const { resources, resourceTemplates } = this.ports.lists;
    const exact = resources.filter((resource) => resource.uri === uri);
    const same = resourceTemplates.filter(({ uriTemplate }) => uriTemplate === uri);
    const fitting = resourceTemplates.filter(({ uriTemplate }) => fitsTemplate(uri, uriTemplate));
    const found = [exact, same, fitting].find((entries) => entries.length > 0);
    return found === undefined ? undefined : [...new Set(found.map(({ server }) => server))];
  }

  async #prompt(name: string, options: RequestOptions): Promise<CatalogPrompt> {
    requirePromptName(name);
    const found = await this.#found(() => this.ports.lists.prompt(name), options);
    if (found !== undefined) return found;
    this.#requireOpen();
    const near = didYouMean(
      name,
      this.ports.lists.prompts.map((prompt) => prompt.name),
    );
    throw new NotFoundError(
      `No server offers a prompt called '${name}'.${near}${unavailableServers(this.ports.lists.status)}`,
    );
  }

  #requireOpen(): void {
    const why = this.ports.whyIdle();
    if (why !== undefined) throw why;
  }

  #unknownResource(uri: string): NotFoundError {
    this.#requireOpen();
    const near = didYouMean(
      uri,
      this.ports.lists.resources.map((resource) => resource.uri),
    );
    return new NotFoundError(
      `No server lists the resource '${uri}', and no template fits it.${near} To request it anyway, name the server with 'server'.${unavailableServers(this.ports.lists.status)}`,
    );
  }

  /** Looks at once, and again when the lists of every ready server are read or the deadline has passed. */
  async #found<T>(look: () => T | undefined, options: RequestOptions): Promise<T | undefined> {
    const isListing = (): boolean =>
      [...this.ports.servers()].some(({ present }) => hasTag(present, 'enriching'));
    const found = look();
    if (found !== undefined || !isListing()) return found;
    const { signal, timeoutMs = DEFAULT_CALL_TIMEOUT_MS, totalTimeoutMs } = options;
    const limits = limitsOf(timeoutMs, totalTimeoutMs);
    const deadline = new Deadline(this.ports.clock, limits, signal);
    try {
      await this.ports.until(() => look() !== undefined || !isListing(), deadline.signal);
    } catch (error) {
      if (error instanceof Aborted) {
        const message = 'The request was aborted before it was sent.';
        throw new CallAbortedError(message, { cause: signal?.reason });
      }
      if (!(error instanceof TimedOut)) throw error;
    } finally {
      deadline.end();
    }
    return look();
  }
}

function didYouMean(word: string, known: readonly string[]): string {
  const near = nearestName(word, known);
  return near === undefined ? '' : ` Did you mean '${near}'?`;
}
