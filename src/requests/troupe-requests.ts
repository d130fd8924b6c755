/**
 * What can be asked of a troupe beside calls: finds the server that is meant, by the lists, and asks it.
 *
 * Whoever asks just after a start asks before the lists are read: what is not found is looked for again once they are.
 */
import type { GetPromptResult, LoggingLevel, ReadResourceResult } from '@modelcontextprotocol/sdk/types.js';
import { GivenUp, Patience, TimedOut } from '../calls/patience.js';
import { fitsTemplate } from '../catalog/uri-template.js';
import type { CatalogPrompt } from '../catalog/prompt.js';
import type { CatalogResource, CatalogResourceTemplate } from '../catalog/resource.js';
import { nearestName } from '../config/near-miss.js';
import { CallAbortedError, NotOfferedError } from '../errors.js';
import type { LifecycleEventBody } from '../lifecycle/event.js';
import type { ServerStatus } from '../lifecycle/status.js';
import { DEFAULT_CALL_TIMEOUT_MS } from '../options.js';
import type { Clock } from '../ports.js';
import { messageOf } from '../thrown.js';
import { whoIsAway } from '../unknown-tool.js';
import type { RequestOptions } from './request.js';
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
import type { Wishes } from './wishes.js';

/** Which server is meant. */
export interface OfServer {
  /** Name of the server. Default: the only one that lists it. */
  readonly server?: string;
}

export type ResourceOptions = RequestOptions & OfServer;

/** What is seen of the lists. */
export interface SeenLists {
  readonly resources: readonly CatalogResource[];
  readonly resourceTemplates: readonly CatalogResourceTemplate[];
  readonly prompts: readonly CatalogPrompt[];
  readonly status: readonly ServerStatus[];
  prompt(name: string): CatalogPrompt | undefined;
}

/** A server that can be asked. */
export interface AskedServer {
  readonly name: string;
  /** It is ready, and its lists beside the tools are being read. */
  readonly isListing: boolean;
  readonly requests: ConnectionRequests;
}

export interface TroupeRequestPorts {
  readonly clock: Clock;
  readonly lists: SeenLists;
  readonly servers: () => Iterable<AskedServer>;
  /** Why nobody can be asked, now or any more. */
  readonly whyIdle: () => Error | undefined;
  /** As `Publisher.until`. */
  readonly until: (isTrue: () => boolean, signal?: AbortSignal) => Promise<void>;
  readonly publish: (event: LifecycleEventBody) => void;
  readonly wishes: Wishes;
}

export class TroupeRequests {
  constructor(private readonly ports: TroupeRequestPorts) {}

  /** The same among some of the servers. */
  among(lists: SeenLists, sees: (server: string) => boolean): TroupeRequests {
    const servers = (): AskedServer[] => [...this.ports.servers()].filter(({ name }) => sees(name));
    return new TroupeRequests({ ...this.ports, lists, servers });
  }

  async readResource(uri: string, { server, ...options }: ResourceOptions = {}): Promise<ReadResourceResult> {
    const asked = await this.#serverOf(uri, server, options);
    return asked.readResource(uri, options);
  }

  async subscribe(uri: string, { server, ...options }: ResourceOptions = {}): Promise<void> {
    const asked = await this.#serverOf(uri, server, options);
    await asked.subscribe(uri, options);
  }

  /** What nobody is subscribed to is no error. */
  async unsubscribe(uri: string, { server, ...options }: ResourceOptions = {}): Promise<void> {
    const asked = server === undefined ? this.#subscribedTo(uri) : [this.#named(server)];
    await Promise.all(asked.map((requests) => requests.unsubscribe(uri, options)));
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: RequestOptions = {},
  ): Promise<GetPromptResult> {
    const { server, prompt } = await this.#prompt(name, options);
    return this.#named(server).getPrompt(prompt, args, options);
  }

  async complete(
    ref: CompletionRef,
    argument: CompletionArgument,
    { server, ...options }: CompletionOptions & OfServer = {},
  ): Promise<Completion> {
    requireRef(ref);
    if (ref.type === 'ref/prompt') {
      const found = await this.#prompt(ref.name, options);
      return this.#named(found.server).complete({ ...ref, name: found.prompt }, argument, options);
    }
    const asked = await this.#serverOf(ref.uri, server, options);
    return asked.complete(ref, argument, options);
  }

  /**
   * Without a server: for all of them, those that come later included. It is set at once where there is a session that
   * takes it, and where one refuses, that is a diagnostic.
   */
  async setLogLevel(level: LoggingLevel, { server, ...options }: ResourceOptions = {}): Promise<void> {
    if (server !== undefined) return this.#named(server).setLogLevel(level, options);
    requireLevel(level);
    this.ports.wishes.setLevelOfAll(level);
    const asked = [...this.ports.servers()].filter(({ requests }) => requests.takesLogLevel);
    await Promise.all(
      asked.map(({ name, requests }) =>
        requests.setLogLevel(level, options).catch((error: unknown) => {
          const why = messageOf(error);
          const message = `The log level '${level}' was not set: ${why}`;
          this.ports.publish({ type: 'diagnostic', connection: name, kind: 'log-level', message });
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
    throw new NotOfferedError(`No server is called '${server}'.${didYouMean(server, names)}`, { server });
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
    throw new NotOfferedError(
      `Several servers offer the resource '${uri}': ${names}. Say with 'server' which of them is meant.`,
    );
  }

  /** Those that list it, else those with a template that could mean it; undefined where none does. */
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
    throw new NotOfferedError(
      `No server offers a prompt called '${name}'.${near}${whoIsAway(this.ports.lists.status)}`,
    );
  }

  #requireOpen(): void {
    const why = this.ports.whyIdle();
    if (why !== undefined) throw why;
  }

  #unknownResource(uri: string): NotOfferedError {
    this.#requireOpen();
    const near = didYouMean(
      uri,
      this.ports.lists.resources.map((resource) => resource.uri),
    );
    return new NotOfferedError(
      `No server lists the resource '${uri}', and no template fits it.${near} Name the server with 'server' to ask it all the same.${whoIsAway(this.ports.lists.status)}`,
    );
  }

  /** Looks at once, and again when the lists of every server that is ready have been read, or patience is over. */
  async #found<T>(look: () => T | undefined, options: RequestOptions): Promise<T | undefined> {
    const isListing = (): boolean => [...this.ports.servers()].some((server) => server.isListing);
    const found = look();
    if (found !== undefined || !isListing()) return found;
    const { signal, timeoutMs = DEFAULT_CALL_TIMEOUT_MS, totalTimeoutMs = 0 } = options;
    const limits = { idleMs: timeoutMs, totalMs: totalTimeoutMs };
    const patience = new Patience(this.ports.clock, limits, signal);
    try {
      await this.ports.until(() => look() !== undefined || !isListing(), patience.signal);
    } catch (error) {
      if (error instanceof GivenUp) {
        const message = 'The request was aborted before it was sent.';
        throw new CallAbortedError(message, { cause: signal?.reason });
      }
      if (!(error instanceof TimedOut)) throw error;
    } finally {
      patience.end();
    }
    return look();
  }
}

function didYouMean(word: string, known: readonly string[]): string {
  const near = nearestName(word, known);
  return near === undefined ? '' : ` Did you mean '${near}'?`;
}
