/**
 * Where a part of this package that is made of troupes, as the gateway is, reaches into one. No host sees any of it.
 */
import type {
  ClientCapabilities,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
} from '@modelcontextprotocol/sdk/types.js';
import type { ServerNotice } from './actors/effect-ports.js';
import type { LoadedConfig } from './config/load.js';
import type { JsonObject } from './protocol/protocol-client.js';
import type { Responders } from './server-requests/server-requests.js';
import type { ServerRow } from './server-table.js';

/** What stands in for parts of a troupe. */
export interface TroupeSeams {
  /** Stands between the sources and whoever reads them. Default: nobody does. */
  readonly load?: (read: () => Promise<LoadedConfig>) => Promise<LoadedConfig>;
  /** Hears that entries came, went, or may have become others. */
  readonly onchanged?: () => void;
  /** What is declared to a server, asked for each handshake. Default: what the handlers of the host answer. */
  readonly declares?: (server: string) => ClientCapabilities;
  /** The `_meta` of each handshake. Default: none. */
  readonly handshakeMeta?: JsonObject;
  /** What answers a server. Default: the handlers of the host. */
  readonly responders?: (server: string) => Responders;
  /** Hears every notification of a server that is about no request, untouched. */
  readonly onnotification?: (notice: ServerNotice) => void;
}

/** What one server offers, as it listed it: what its entry or a review keeps back is left out. */
export interface ServerOffer {
  readonly tools: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplate[];
  readonly prompts: readonly Prompt[];
}

/** What is seen of a troupe from inside the package. */
export interface TroupeInside {
  readonly rows: readonly ServerRow[];
  /** Resolves when the sources have been read for the first time, where the troupe was started. */
  whenRead(): Promise<void>;
  /** Each of its lists is the same one until it changes. */
  offer(server: string): ServerOffer;
  /** As `Publisher.until`. */
  until(isTrue: () => boolean, signal?: AbortSignal): Promise<void>;
  /** Calls `fn` after every batch of events until the returned function is called. */
  onflushed(fn: () => void): () => void;
  /** Sends a notification to every connected server. What is told to a session that ends meanwhile is no error. */
  tellServers(method: string): Promise<void>;
}
