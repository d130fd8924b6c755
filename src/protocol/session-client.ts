/**
 * The protocol client for protocol versions that open a session with `initialize`: up to 2025-11-25. It has the requests
 * of the server answered (`inbound-requests.ts`).
 */
import type { RequestId } from '../mcp/messages.js';
import type { ServerIdentity } from '../../machines/connection/connection.events.js';
import { systemClock } from '../ports.js';
import type { SessionTransport } from '../transports/session-transport.js';
import type { RawFailure } from '../failures/transport-error.js';
import { resultWithoutNulls } from './absent-nulls.js';
import { InboundRequests, originOf, AbandonedRequests } from './inbound-requests.js';
import type { Inbound, InboundRequest } from './inbound-message.js';
import { LATEST_PROTOCOL_VERSION, parseInitializeResult, versionRefusal } from './server-identity.js';
import { cancellationOf, MessageClient, ownId } from './message-client.js';
import type { JsonObject } from '../json/json-object.js';
import {
  RpcError,
  type Asked,
  type Cause,
  type ProtocolClient,
  type ProtocolClientOptions,
  type RequestOptions,
} from './protocol-client.js';

class SessionClient extends MessageClient {
  /** Undefined until it is needed, which is never in most sessions: these two take half a KiB. */
  #givenUp: AbandonedRequests | undefined;
  #asked: InboundRequests | undefined;

  async open(transport: SessionTransport, signal: AbortSignal): Promise<ServerIdentity> {
    this.attach(transport);
    const { capabilities, clientInfo, meta } = this.options;
    const asked = this.request(
      'initialize',
      {
        protocolVersion: LATEST_PROTOCOL_VERSION,
        capabilities,
        clientInfo,
        ...(meta === undefined ? {} : { _meta: meta }),
      },
      { signal },
    );
    const initialized = await asked.catch((error: unknown) => {
      throw (error instanceof RpcError ? versionRefusal(error) : undefined) ?? error;
    });
    const identity = parseInitializeResult(initialized);
    transport.setProtocolVersion?.(identity.protocolVersion);
    await this.notify('notifications/initialized');
    return identity;
  }

  request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    const { headers } = options;
    return this.exchange(method, params, options, headers && { headers });
  }

  override abandon(failure: RawFailure): void {
    super.abandon(failure);
    this.#asked?.end();
  }

  protected override read(method: string, result: JsonObject): JsonObject {
    return resultWithoutNulls(method, result);
  }

  override cancel(requestId: number): void {
    void this.post(cancellationOf(requestId));
  }

  override mayGoOn(id: number, cause: Cause): void {
    this.#givenUp ??= new AbandonedRequests(this.options.clock ?? systemClock);
    this.#givenUp.add(id, cause);
  }

  protected override receiveAnswer(answer: Extract<Inbound, { kind: 'answer' }>): void {
    super.receiveAnswer(answer);
    this.#givenUp?.answered(answer.id);
  }

  protected override receiveCancelled(id: RequestId, reason: string | undefined): void {
    this.#asked?.cancel(id, reason);
  }

  protected override receiveRequest(request: InboundRequest, relatedTo: RequestId | undefined): void {
    void this.#answer(request, relatedTo);
  }

  /** Answers a request, unless the server cancelled it or the session has ended. */
  async #answer(request: InboundRequest, relatedTo: RequestId | undefined): Promise<void> {
    if (this.transport === undefined) return;
    this.#asked ??= new InboundRequests();
    const answer = await this.#asked.answer(request, this.#why(relatedTo), this.owner);
    if (answer !== undefined) await this.post(answer);
  }

  /** A server may still work on requests that were given up, and send requests because of them. */
  #why(relatedTo: RequestId | undefined): Omit<Asked, 'signal'> {
    if (relatedTo === undefined) return originOf(this.sent.values(), this.#givenUp?.causes ?? []);
    const related = this.sent.get(ownId(relatedTo));
    return { origin: related?.origin, causes: related === undefined ? [] : [related.origin] };
  }
}

export function createSessionClient(options: ProtocolClientOptions): ProtocolClient {
  return new SessionClient(options);
}
