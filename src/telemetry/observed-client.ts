/** A protocol client whose requests, and those of its server, are reported. */
import type { ServerIdentity } from '../../machines/connection/connection.events.js';
import type { Era } from '../../machines/policy/protocol-era.js';
import type { RawFailure } from '../failures/transport-error.js';
import type { JsonObject } from '../json/json-object.js';
import type {
  Asked,
  ClientOwner,
  Listen,
  ProtocolClient,
  ProtocolClientOptions,
  RequestOptions,
  RequestOrigin,
} from '../protocol/protocol-client.js';
import type { SessionTransport } from '../transports/session-transport.js';
import { nameIn, observe, observeSent } from './observe-request.js';
import type { NetworkFacts, ObservedOperation, Operation, SessionFacts, Telemetry } from './telemetry.js';

/** The first request of a session in each era. */
const OPENING: Readonly<Record<Era, string>> = { old: 'initialize', new: 'server/discover' };

export interface ObservedSession {
  readonly telemetry: Telemetry;
  readonly server: string;
  readonly era: Era;
}

type Create = (era: Era, options: ProtocolClientOptions) => Promise<ProtocolClient>;

/** The client of a new session. It is the plain one if nobody observes. */
export async function createObservedClient(
  about: ObservedSession,
  options: ProtocolClientOptions,
  create: Create,
): Promise<ProtocolClient> {
  if (!about.telemetry.isObserved) return create(about.era, options);
  const handshake = new HandshakeMeta(options.meta);
  const client = await create(about.era, {
    ...options,
    get meta() {
      return handshake.all;
    },
  });
  return new ObservedClient(client, about, handshake);
}

/** The `_meta` of the handshake, to which its trace context is added. */
class HandshakeMeta {
  trace: JsonObject | undefined;

  constructor(private readonly given: JsonObject | undefined) {}

  get all(): JsonObject | undefined {
    return this.trace === undefined ? this.given : { ...this.given, ...this.trace };
  }
}

class ObservedClient implements ProtocolClient {
  readonly #client: ProtocolClient;
  readonly #about: ObservedSession;
  readonly #handshake: HandshakeMeta;
  #transport: SessionTransport | undefined;
  #network: NetworkFacts = {};
  #protocolVersion: string | undefined;
  /** When the session began, as `performance.now()`; undefined before and after it. */
  #openedAt: number | undefined;
  /** The requests during which the server may ask something. */
  readonly #causes = new WeakMap<RequestOrigin, ObservedOperation>();

  constructor(client: ProtocolClient, about: ObservedSession, handshake: HandshakeMeta) {
    this.#client = client;
    this.#about = about;
    this.#handshake = handshake;
  }

  get follow(): ProtocolClient['follow'] {
    const { follow } = this.#client;
    if (follow === undefined) return undefined;
    return (task, options) =>
      observe(this.#about.telemetry.sent(this.#operation('tasks/get', {}, options)), () =>
        follow(task, options),
      );
  }

  get listen(): Listen | undefined {
    return this.#client.listen;
  }

  get pending(): number {
    return this.#client.pending;
  }

  get lastRequestId(): number | undefined {
    return this.#client.lastRequestId;
  }

  get owner(): ClientOwner | undefined {
    return this.#client.owner;
  }

  set owner(owner: ClientOwner | undefined) {
    this.#client.owner = owner && this.#observed(owner);
  }

  get onwire(): ProtocolClient['onwire'] {
    return this.#client.onwire;
  }

  set onwire(tap: ProtocolClient['onwire']) {
    this.#client.onwire = tap;
  }

  open(transport: SessionTransport, signal: AbortSignal): Promise<ServerIdentity> {
    this.#transport = transport;
    this.#network = networkOf(transport);
    const { telemetry, era } = this.#about;
    const observed = telemetry.sent(this.#operation(OPENING[era], {}));
    this.#handshake.trace = observed.meta;
    return observe(observed, async () => {
      const identity = await this.#client.open(transport, signal);
      this.#protocolVersion = identity.protocolVersion;
      this.#openedAt = performance.now();
      return identity;
    });
  }

  request(method: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject> {
    const observed = this.#about.telemetry.sent(this.#operation(method, params, options));
    if (options?.origin !== undefined) this.#causes.set(options.origin, observed);
    return observeSent(
      observed,
      params,
      (sent) => this.#client.request(method, sent, options),
      () => this.#client.lastRequestId,
    );
  }

  notify(method: string, params?: JsonObject): Promise<void> {
    return this.#client.notify(method, params);
  }

  abandon(failure: RawFailure): void {
    this.#client.abandon(failure);
    if (this.#openedAt === undefined) return;
    const lasted = performance.now() - this.#openedAt;
    this.#openedAt = undefined;
    this.#about.telemetry.sessionEnded('client', this.#facts, lasted, this.#transport?.ended?.code);
  }

  get #facts(): SessionFacts {
    return {
      server: this.#about.server,
      protocolVersion: this.#protocolVersion,
      network: this.#network,
    };
  }

  #operation(method: string, params: JsonObject, { origin }: RequestOptions = {}): Operation {
    return {
      ...this.#facts,
      method,
      name: nameIn(method, params),
      isAwaited: origin !== undefined,
      call: origin?.call,
    };
  }

  #received(method: string, params: JsonObject, { origin }: Asked): ObservedOperation {
    const cause = origin && this.#causes.get(origin);
    return this.#about.telemetry.received(this.#operation(method, params), params['_meta'], cause);
  }

  /** The requests of the server are reported as well. */
  #observed(owner: ClientOwner): ClientOwner {
    const relay: ClientOwner = {
      onnotification: (...notice) => owner.onnotification?.(...notice),
      onoddity: (message) => owner.onoddity?.(message),
      oninterest: () => owner.oninterest?.(),
      onrefused: (refusal) => owner.onrefused?.(refusal),
    };
    if (owner.onrequest === undefined) return relay;
    const answer: ClientOwner['onrequest'] = owner.onrequest.bind(owner);
    return {
      ...relay,
      onrequest: (method, params, asked) =>
        observe(this.#received(method, params, asked), () => answer(method, params, asked)),
    };
  }
}

function networkOf({ kind, url }: SessionTransport): NetworkFacts {
  if (kind === 'stdio') return { transport: 'pipe' };
  if (kind === 'in-process' || url === undefined) return {};
  const { hostname, port, protocol } = new URL(url);
  return {
    transport: 'tcp',
    protocol: 'http',
    address: hostname,
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  };
}
