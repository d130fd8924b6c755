/**
 * Access to the inside of a troupe, for parts of this package that are built on troupes, such as the gateway, and for
 * tests. Hosts do not see it.
 */
import type { ClientCapabilities } from '../mcp/session.js';
import type { Prompt, ResourceTemplate, Tool } from '../mcp/server-offers.js';
import type { Resource } from '../mcp/content.js';
import type { ServerNotice } from '../actors/effect-ports.js';
import type { LoadedConfig } from '../servers/load-config.js';
import type { ObserverFailed } from '../lifecycle/safe-observable.js';
import type { JsonObject } from '../json/json-object.js';
import type { Responders } from '../server-requests/server-requests.js';
import type { ToolFilter } from '../config/entry/tool-filter.js';
import type { ServerRow } from '../config/entry/server-spec.js';
import type { FleetMembership } from './fleet-membership.js';
import type { CreateTransport } from '../transports/create-transport.js';

/** Replacements for parts of a troupe. */
export interface TroupeInternals {
  /** Creates the transports of its sessions. Default: as the entry of the server says. */
  readonly createTransport?: CreateTransport;
  /** Wraps each reading of the sources. Default: no wrapper. */
  readonly load?: (read: () => Promise<LoadedConfig>) => Promise<LoadedConfig>;
  /** Called when entries were added or removed, or may have changed. */
  readonly onchanged?: () => void;
  /** The capabilities declared to a server, called for each handshake. Default: those of the host's handlers. */
  readonly declares?: (server: string) => ClientCapabilities;
  /** The `_meta` of each handshake. Default: none. */
  readonly handshakeMeta?: JsonObject;
  /** Answers the requests of a server. Default: the handlers of the host. */
  readonly responders?: (server: string) => Responders;
  /** Called for every notification of a server that belongs to no request. */
  readonly onnotification?: (notice: ServerNotice) => void;
}

/** What one server offers, as it listed it, without the tools that its entry or a review holds back. */
export interface ServerOffer {
  readonly tools: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplate[];
  readonly prompts: readonly Prompt[];
}

/** What the package itself can read of a troupe. */
export interface TroupeAccess {
  readonly rows: readonly ServerRow[];
  /** Resolves when the sources have been read for the first time, if the troupe was started. */
  whenRead(): Promise<void>;
  /** The offer of a server. Each list is the same object until it changes. */
  offer(server: string): ServerOffer;
  /** What each connection is doing, in words. */
  readonly doings: readonly string[];
  /** What the entry of a server says about its tools. */
  filter(server: string): ToolFilter;
  /** Whether its lists other than tools are known, from this run or an earlier one. */
  knowsExtras(server: string): boolean;
  /** As `Publisher.until`. */
  until(isTrue: () => boolean, signal?: AbortSignal): Promise<void>;
  /** Calls `fn` after every batch of events until the returned function is called. */
  onflushed(fn: () => void): () => void;
  /** As `Publisher.observerFailed`. */
  readonly observerFailed: ObserverFailed;
  /** The place of the troupe in its fleet; undefined without one. */
  readonly membership: FleetMembership | undefined;
  /** Sends a notification to every connected server. A session that ends meanwhile causes no error. */
  notifyServers(method: string): Promise<void>;
}
