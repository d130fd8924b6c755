/**
 * Stands in for the gateway behind a service, and does what the request says: `echo` returns its params, `hold` waits
 * until it is released, `ask` asks the client first, `notify` sends notifications before the answer.
 */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type {
  JSONRPCMessage,
  JSONRPCRequest,
  JSONRPCResultResponse,
  RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import type { Readiness } from '../../../src/gateway/readiness.js';
import type { ConnectOptions, GatewaySession } from '../../../src/gateway/gateway.js';

type Params = Readonly<Record<string, unknown>>;

export class StandInSession implements GatewaySession {
  readonly closed: Promise<void>;
  readonly received: JSONRPCMessage[] = [];
  #isOver: () => void = () => {};
  readonly #held = new Map<RequestId, () => void>();
  readonly #asked = new Map<RequestId, (answer: JSONRPCMessage) => void>();
  #lastId = 0;

  constructor(
    readonly id: string,
    readonly transport: Transport,
    readonly about: ConnectOptions,
  ) {
    this.closed = new Promise((resolve) => (this.#isOver = resolve));
    transport.onmessage = (message) => this.#receive(message);
    transport.onclose = () => this.#isOver();
  }

  async close(): Promise<void> {
    await this.transport.close();
  }

  /** Answers a held request. */
  release(id: RequestId): void {
    this.#held.get(id)?.();
  }

  get held(): readonly RequestId[] {
    return [...this.#held.keys()];
  }

  send(message: object, relatedRequestId?: RequestId): void {
    const options = relatedRequestId === undefined ? {} : { relatedRequestId };
    void this.transport.send({ jsonrpc: '2.0', ...message } as JSONRPCMessage, options);
  }

  #receive(message: JSONRPCMessage): void {
    this.received.push(message);
    if ('method' in message && 'id' in message) this.#answer(message);
    else if (!('method' in message) && message.id !== undefined) this.#asked.get(message.id)?.(message);
  }

  #answer({ id, method, params = {} }: JSONRPCRequest): void {
    const reply = (result: Params): void => this.send({ id, result });
    const { times = 1, text } = params as { readonly times?: number; readonly text?: string };
    switch (method) {
      case 'initialize':
        if (text === 'full') this.send({ id, error: { code: -32000, message: 'full' } });
        else reply({ protocolVersion: params['protocolVersion'], capabilities: {} });
        return;
      case 'hold':
        this.#held.set(id, () => reply({ released: true }));
        return;
      case 'throw':
        throw new Error('an internal secret');
      case 'ask': {
        const asked = `question-${(this.#lastId += 1)}`;
        this.#asked.set(asked, (answer) => reply({ answer }));
        this.send({ id: asked, method: 'roots/list' }, id);
        return;
      }
      case 'notify':
        for (let n = 1; n <= times; n += 1) this.send({ method: 'notifications/test', params: { n } }, id);
        reply({ sent: times });
        return;
      default:
        reply({ echo: params });
    }
  }
}

export class StandInGateway {
  readonly sessions: StandInSession[] = [];
  names: readonly string[] | undefined = ['a b', 'git'];
  refusal: Error | undefined;
  state: Readiness = { status: 'ready', missing: [] };
  required: readonly string[] | undefined;

  readiness(required?: readonly string[]): Readiness {
    this.required = required;
    return this.state;
  }

  get last(): StandInSession {
    const last = this.sessions.at(-1);
    if (last === undefined) throw new Error('no session');
    return last;
  }

  async answer({ id, params = {} }: JSONRPCRequest): Promise<JSONRPCResultResponse> {
    return { jsonrpc: '2.0', id, result: { echo: params } };
  }

  async serverNames(): Promise<readonly string[] | undefined> {
    if (this.refusal !== undefined) throw this.refusal;
    return this.names;
  }

  async connect(transport: Transport, about: ConnectOptions = {}): Promise<GatewaySession> {
    if (this.refusal !== undefined) throw this.refusal;
    const session = new StandInSession(`s${this.sessions.length}`, transport, about);
    this.sessions.push(session);
    await transport.start();
    return session;
  }
}
