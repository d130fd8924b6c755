/** Gateways for tests, and SDK clients of them. All are closed after each test. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  type CallToolResult,
  type ClientCapabilities,
} from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeAll, expect } from 'vitest';
import {
  createGateway,
  type ConnectOptions,
  type Gateway,
  type GatewaySession,
} from '../../src/gateway/gateway.js';
import type { GatewayOptions } from '../../src/gateway/gateway-options.js';
import { createControlledClock, type ControlledClock } from './controlled-clock.js';
import { passTime } from './test-troupe.js';

/** The capabilities for every kind of request that a server can send. */
export const ANSWERS_ALL: ClientCapabilities = {
  roots: { listChanged: true },
  sampling: {},
  elicitation: { form: {} },
};

export interface TestGateway {
  readonly gateway: Gateway;
  readonly clock: ControlledClock;
  /** A client that answers each request of a server with its name. */
  client(name: string, options?: ClientOptions): Promise<TestClient>;
}

export interface ClientOptions extends ConnectOptions {
  /** Default: none. */
  readonly capabilities?: ClientCapabilities;
}

export interface TestClient {
  readonly name: string;
  readonly client: Client;
  readonly session: GatewaySession;
  /** Its transport reports that nothing can be sent to it any more. */
  goAway(since: number): void;
  /** The requests it received, as text. */
  readonly questions: string[];
  readonly notifications: { method: string; params: Record<string, unknown> }[];
  /** Delays its answers until the promise settles. */
  holdAnswers(until: Promise<void>): void;
  /** Calls a tool; returns the text of the result. */
  call(tool: string, args?: Record<string, unknown>, signal?: AbortSignal): Promise<string>;
  /** Resolves with the parameters of the notifications of a method once `count` of them have arrived. */
  whenNotified(method: string, count?: number): Promise<Record<string, unknown>[]>;
  /** The parameters of the notifications of a method that have arrived. */
  of(method: string): Record<string, unknown>[];
}

/** `make` creates a gateway and does not start it. */
export function useGateways(): { make(options: GatewayOptions): TestGateway } {
  const made: TestGateway[] = [];
  const clients: Client[] = [];
  beforeAll(() =>
    Promise.all([
      import('../../src/actors/configuration-effects.js'),
      import('../../src/servers/load-config.js'),
      import('../../src/protocol/protocol-client.js'),
      import('../../src/protocol/session-client.js'),
      import('../../src/protocol/stateless-client.js'),
      import('../../src/transports/in-process.js'),
    ]),
  );
  afterEach(async () => {
    for (const { gateway, clock } of made.splice(0)) await passTime(clock, gateway.close());
    for (const client of clients.splice(0)) await client.close();
  });
  return {
    make(options) {
      const clock = createControlledClock();
      const gateway = createGateway({ clock, seed: 1, ...options });
      const test: TestGateway = {
        gateway,
        clock,
        client: async (name, about = {}) => {
          const one = await connectClient(gateway, name, about);
          clients.push(one.client);
          return one;
        },
      };
      made.push(test);
      return test;
    },
  };
}

export async function connectClient(
  gateway: Gateway,
  name: string,
  { capabilities = {}, ...about }: ClientOptions = {},
): Promise<TestClient> {
  const client = new Client({ name, version: '1' }, { capabilities });
  const questions: string[] = [];
  const notifications: TestClient['notifications'] = [];
  const waiting = new Set<() => void>();
  let held = Promise.resolve();
  if (capabilities.elicitation !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      questions.push(params.message);
      await held;
      return { action: 'accept', content: { name }, _meta: { by: name } };
    });
  }
  if (capabilities.sampling !== undefined) {
    client.setRequestHandler(CreateMessageRequestSchema, async ({ params }) => {
      const [first] = params.messages;
      questions.push(`sample ${JSON.stringify(first?.content)}`);
      await held;
      return { role: 'assistant', model: name, content: { type: 'text', text: name } };
    });
  }
  if (capabilities.roots !== undefined) {
    client.setRequestHandler(ListRootsRequestSchema, async () => {
      questions.push('roots');
      await held;
      return { roots: [{ uri: `file:///home/${name}` }] };
    });
  }
  client.fallbackNotificationHandler = async ({ method, params }) => {
    notifications.push({ method, params: params ?? {} });
    for (const wake of waiting) wake();
    waiting.clear();
  };
  const [near, far] = InMemoryTransport.createLinkedPair();
  const session = await gateway.connect(far, about);
  await client.connect(near);
  const of = (method: string): Record<string, unknown>[] =>
    notifications.filter((each) => each.method === method).map(({ params }) => params);
  return {
    name,
    client,
    session,
    goAway: (disconnectedSince) => void Object.assign(far, { disconnectedSince }),
    questions,
    notifications,
    of,
    holdAnswers: (until) => {
      held = until;
    },
    call: async (tool, args = {}, signal) => {
      const result = await client.callTool(
        { name: tool, arguments: args },
        undefined,
        signal === undefined ? {} : { signal },
      );
      return textOf(result as CallToolResult);
    },
    whenNotified: async (method, count = 1) => {
      while (of(method).length < count) await new Promise<void>((resolve) => waiting.add(resolve));
      return of(method);
    },
  };
}

export function textOf({ content }: CallToolResult): string {
  const [first] = content;
  expect(first?.type).toBe('text');
  return first?.type === 'text' ? first.text : '';
}
