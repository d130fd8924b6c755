/**
 * What the effects need from the rest of the runtime. One record, supplied once by the façade.
 */
import type { SessionKey } from '../../machines/connection.events.js';
import type { StopPolicy } from '../../machines/policy/policy.js';
import type { CatalogCache } from '../catalog/cache.js';
import type { Catalogs } from '../catalog/catalogs.js';
import type { Extras } from '../catalog/extras.js';
import { cutText } from '../cut-text.js';
import type { Wire } from '../event-log/wire.js';
import type { LifecycleEventBody } from '../lifecycle/event.js';
import type { ServerConfig } from '../options.js';
import type { Clock } from '../ports.js';
import type { JsonObject, ProtocolClient, RequestOrigin } from '../protocol/protocol-client.js';
import type { Reviews } from '../review/reviews.js';
import type { Wishes } from '../requests/wishes.js';
import type { Mask } from '../secrets.js';
import type { ServerRequests } from '../server-requests/server-requests.js';
import type { Sessions } from '../sessions.js';
import type { RawFailure } from '../transports/session-transport.js';
import type { HttpAuth } from '../transports/http/session-requests.js';
import type { CreateTransport } from '../transports/transport-terms.js';

/** What came of reading one entry: nothing of an untrusted one was expanded. */
export type Resolution =
  | { readonly kind: 'untrusted' }
  | { readonly kind: 'resolved'; readonly hash: string; readonly config: ServerConfig };

/** The configured servers, resolved afresh for every attempt. */
export interface ConfiguredServers {
  /** Rejects with a `TransportError` whose failure says what is wrong with the entry. */
  resolve(name: string): Promise<Resolution>;
  /** Whether the entry may be started, after a question where one is due. Rejects as `resolve` does. */
  isTrusted(name: string): Promise<boolean>;
  /** Whether the server may rest until someone asks for it. */
  isLazy(name: string): boolean;
  /** Under what the tools of a server are cached; undefined where they are not. */
  cacheKey(name: string): string | undefined;
  stopPolicy(name: string): StopPolicy;
  /** Strikes out the secrets of the entry as it was last resolved. */
  mask(name: string): Mask;
}

/** Who gets tokens for a server, and has a person sign in where that takes one. */
export interface SignInPort {
  /** Where the tokens of a new session come from; undefined for a server that needs none of ours. */
  credentials(name: string, config: ServerConfig): Promise<HttpAuth | undefined>;
  /**
   * Resolves when somebody is signed in. `tell` gets the address where a person can do so, once there is one. Rejects
   * with a `TransportError` where nobody can; for a server without credentials of ours it never settles.
   */
  signIn(name: string, tell: (url: string) => void, signal: AbortSignal): Promise<void>;
  /** Where a person can sign in to that server now. */
  url(name: string): string | undefined;
  /** Takes what the browser brought: the address it was sent to, or the code. Rejects with an error of the API. */
  finish(name: string, answer: string): Promise<void>;
}

/** A notification of a server, untouched. */
export interface ServerNotice {
  readonly server: string;
  readonly method: string;
  readonly params: JsonObject;
  /** Of our request in whose course it came, where that is sure. */
  readonly origin: RequestOrigin | undefined;
}

export interface EffectPorts {
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly servers: ConfiguredServers;
  readonly catalogs: Catalogs;
  readonly extras: Extras;
  readonly wishes: Wishes;
  /** Default: no list outlives the process. */
  readonly cache?: Pick<CatalogCache, 'recall' | 'keep'> | undefined;
  /** Default: no tool is held back. */
  readonly reviews?: Pick<Reviews, 'judged' | 'target' | 'whyHeld'>;
  readonly publish: (event: LifecycleEventBody) => void;
  readonly createTransport: CreateTransport;
  /** Default: nobody signs in; a server that wants it waits for other headers and a retry. */
  readonly signIns?: SignInPort | undefined;
  readonly createClient: (server: string) => Promise<ProtocolClient>;
  /** Hears the messages of every session. Default: nobody does. */
  readonly wire?: Pick<Wire, 'ear'>;
  /** Hears what a server tells, as it came, before anything is made of it. Default: nobody does. */
  readonly onnotification?: ((notice: ServerNotice) => void) | undefined;
  /** Answers what servers ask. Default: every request but a ping is refused. */
  readonly serverRequests?: Pick<ServerRequests, 'answer'>;
}

/** How the last words of a server are added to a failure that does not carry them. */
export function lastWords(ports: EffectPorts) {
  return (key: SessionKey): Partial<RawFailure> => {
    const transport = ports.sessions.get(key)?.transport;
    const stderrTail = transport?.stderrTail() ?? [];
    return stderrTail.length === 0 ? {} : { stderrTail };
  };
}

/** A diagnostic about one session. Its message may hold text of the server. */
export function diagnose(ports: EffectPorts, key: SessionKey, kind: string, message: string): void {
  ports.publish({
    type: 'diagnostic',
    connection: key.name,
    generation: key.generation,
    kind,
    message: cutText(ports.servers.mask(key.name)(message)),
  });
}
