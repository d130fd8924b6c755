/** The contract of each effect of the connection chart: what it must do, and how it may end. */
import type { CallbackActorLogic, PromiseActorLogic } from 'xstate';
import type {
  AdoptToolsOutput,
  BoundedSessionInput,
  EnrichCatalogInput,
  EnrichCatalogOutput,
  HandshakeOutput,
  OpenTransportInput,
  OpenTransportOutput,
  ResolveConfigInput,
  ResolveConfigOutput,
  RetireSessionInput,
  SessionKey,
  Settled,
  SubscribeOutput,
  WatchSessionEvent,
  WatchSessionInput,
} from './connection.events.js';

/**
 * The effects of the connection chart, by the slots of `connectionMachine.provide({ actors })`. Every promise resolves with
 * its times, or rejects with a {@link Failure} (not an `Error`); it ends within `limitMs`, and aborts its work with its signal.
 *
 * @example
 * ```ts
 * import { createActor, fromCallback, fromPromise } from 'xstate';
 * import { connectionMachine, DEFAULT_POLICY } from 'mcp-troupe/machines';
 * import type { ConnectionEffects, OpenTransportOutput, ResolveConfigOutput } from 'mcp-troupe/machines';
 *
 * const done = async () => ({ startedAt: Date.now(), at: Date.now() });
 * const effects: Partial<ConnectionEffects> = {
 *   resolveConfig: fromPromise(async (): Promise<ResolveConfigOutput> => ({ kind: 'resolved', ...(await done()) })),
 *   openTransport: fromPromise(
 *     async (): Promise<OpenTransportOutput> => ({ transport: 'http', pid: null, url: null, ...(await done()) }),
 *   ),
 *   handshake: fromPromise(async () =>
 *     Promise.reject({ code: 'handshake-timeout', message: 'No answer.', phase: 'handshake', at: Date.now() }),
 *   ),
 *   releaseSession: fromPromise(done),
 *   watchSession: fromCallback(({ sendBack, input }) => {
 *     const { generation } = input;
 *     const timer = setTimeout(() => sendBack({ type: 'session.stable', generation }), input.stableMs);
 *     return () => clearTimeout(timer);
 *   }),
 * };
 * const actor = createActor(connectionMachine.provide({ actors: effects }), {
 *   input: {
 *     name: 'docs',
 *     transport: 'http',
 *     policy: DEFAULT_POLICY,
 *     seed: 1,
 *     generation: 0,
 *     online: true,
 *     wanted: true,
 *     crash: null,
 *     isAttempted: false,
 *   },
 * }).start();
 * actor.send({ type: 'connection.stop', reason: 'stop' });
 * ```
 */
export interface ConnectionEffects {
  /** Reads the entry for one session: whether it is trusted, rests until its first use, or may be started. */
  readonly resolveConfig: PromiseActorLogic<ResolveConfigOutput, ResolveConfigInput>;
  /** Starts the process or reaches the address. From here on the session exists and will be released. */
  readonly openTransport: PromiseActorLogic<OpenTransportOutput, OpenTransportInput>;
  /** Agrees on a version of MCP: `initialize`, or `server/discover` in the new era. */
  readonly handshake: PromiseActorLogic<HandshakeOutput, BoundedSessionInput>;
  /** Reads every page of the list of tools and keeps it. */
  readonly readTools: PromiseActorLogic<Settled, BoundedSessionInput>;
  /** Makes the list that was read last the catalog. Must not wait for the server. */
  readonly adoptTools: PromiseActorLogic<AdoptToolsOutput, SessionKey>;
  /** Reads further lists: resources, with their templates, and prompts. */
  readonly enrichCatalog: PromiseActorLogic<EnrichCatalogOutput, EnrichCatalogInput>;
  /** Resolves when somebody has signed in. May wait for a person without limit. */
  readonly authorize: PromiseActorLogic<Settled, SessionKey>;
  /** Pings a session that shows no sign of life. Rejects if it is lost. */
  readonly probe: PromiseActorLogic<Settled, BoundedSessionInput>;
  /** Opens the stream of changes of the new era. It stays open after the effect. */
  readonly subscribe: PromiseActorLogic<SubscribeOutput, BoundedSessionInput>;
  /** Sends the facts of a session while it is used: `session.*`, `catalog.*`, `subscription.*`, each with its generation. */
  readonly watchSession: CallbackActorLogic<WatchSessionEvent, WatchSessionInput>;
  /** Lets the last calls of the former session finish, and ends it. */
  readonly retireSession: PromiseActorLogic<Settled, RetireSessionInput>;
  /** Ends a session that is lost. Resolves only if nothing of it is alive; rejects with `not-released` if something may be. */
  readonly releaseSession: PromiseActorLogic<Settled, BoundedSessionInput>;
  /** Waits for the calls under way before a shutdown. */
  readonly drainCalls: PromiseActorLogic<Settled, BoundedSessionInput>;
  /** Ends the session in order. Resolves and rejects as `releaseSession` does. */
  readonly closeSession: PromiseActorLogic<Settled, BoundedSessionInput>;
  /** Ends the session at once. Resolves and rejects as `releaseSession` does. */
  readonly killSession: PromiseActorLogic<Settled, BoundedSessionInput>;
}
