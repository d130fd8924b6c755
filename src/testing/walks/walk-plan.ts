/** What a path needs from the start: which servers, how they are reached, and what they must be able to do. */
import type { EventObject } from 'xstate';
import type { ConnectionMachine } from '../../../machines/connection/connection.machine.js';
import { classify, toFailure } from '../../../machines/policy/failure.js';
import type { AuthOptions } from '../../auth/auth-options.js';
import { createMemoryTokenStore } from '../../auth/stores/token-store.js';
import type { EdgePath } from '../edge-paths.js';
import type { ServerScript } from '../server-script.js';
import type { Reach } from './causes.js';

type Path = EdgePath<ConnectionMachine>;

/** Beside a session in use, the next one asks for a sign-in only if somebody could sign in. */
export function asksForSignIn({ steps }: Path): boolean {
  return steps.some(
    ({ event }) =>
      /error\.actor\.\w+Successor/.test(event.type) &&
      classify(toFailure((event as { error?: unknown }).error)) === 'authorize',
  );
}

/** A user who never signs in. */
export const NOBODY: AuthOptions = {
  store: createMemoryTokenStore(),
  redirectUrl: 'http://127.0.0.1:9/callback',
  onAuthorizationUrl: () => {},
};

/** A transport that must be refused when it is opened is HTTP+SSE: streamable HTTP sends nothing then. */
export function reachOf(transport: string, { steps }: Path): Reach {
  const isRefusedAtOnce = steps.some(({ event }) => /error\.actor\.open/.test(event.type));
  return transport === 'http' && isRefusedAtOnce ? 'sse' : (transport as Reach);
}

/** Every way in which the path reaches a server. */
export function reachesOf(path: Path): ReadonlySet<Reach> {
  const reloads = path.steps.flatMap(({ event }) =>
    event.type === 'connection.reload' ? [event.transport] : [],
  );
  return new Set([path.input.transport, ...reloads].map((transport) => reachOf(transport, path)));
}

/** What a server must be from its start on, so that everything in the path can happen to it. */
export function scriptFor({ input, steps }: Path): ServerScript {
  const has = (isSo: (event: EventObject) => boolean): boolean => steps.some(({ event }) => isSo(event));
  const isMute = has(
    (event) => 'output' in event && (event.output as { isOpen?: unknown } | null)?.isOpen === false,
  );
  const lists = { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true } };
  const isCut = has(({ type }) => type === 'session.unreachable');
  return {
    ...(input.transport === 'in-process' && { era: 'new' }),
    capabilities: isMute ? { tools: {}, resources: { subscribe: true } } : lists,
    stubborn: has((event) => 'error' in event && (event.error as { code?: unknown }).code === 'not-released'),
    on: {
      'resources/list': { result: { resources: [] } },
      'resources/templates/list': { result: { resourceTemplates: [] } },
      'resources/subscribe': { result: {} },
      ...(isCut && { GET: { http: { status: 405 } } }),
    },
  };
}
