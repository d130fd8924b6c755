/**
 * Gets a session that can carry a request: asks the chart for one, waits for it, and says why there is none. Keeps no
 * lifecycle state, and does not know which states a request can wake: every state may get `call.waiting`.
 */
import { stateInWords } from '../lifecycle/state-in-words.js';
import type { Tool } from '../mcp/server-offers.js';
import { mayTryForCall, nextCallAttemptAt } from '../../machines/connection/connection.update.js';
import { toFailure } from '../../machines/policy/failure.js';
import { hasTag } from '../../machines/connection/connection.states.js';
import type { CallRoute } from '../calls/call-route.js';
import { Semaphore } from '../async/semaphore.js';
import { AuthRequiredError, NotReadyError, TrustRequiredError } from '../errors.js';
import { failureError } from '../failures/failure-error.js';
import type { Server } from './server.js';
import type { Session } from '../sessions/sessions.js';

export class SessionAccess implements CallRoute {
  readonly #server: Server;
  /** Undefined before the first call. */
  #turns: Semaphore | undefined;

  constructor(server: Server) {
    this.#server = server;
  }

  get turns(): Semaphore {
    return (this.#turns ??= new Semaphore(() => this.#server.entry.settings.maxConcurrentCalls));
  }

  get server(): string {
    return this.#server.name;
  }

  session(): Session | undefined {
    const session = this.#is('usable') ? this.#server.session : undefined;
    return session?.isUsable === true ? session : undefined;
  }

  /** Resolves when there is a session. */
  async ready(signal: AbortSignal | undefined): Promise<void> {
    await this.nextSession(signal);
  }

  async nextSession(signal: AbortSignal | undefined): Promise<Session> {
    for (;;) {
      this.#ask();
      await this.#server.runtime.publisher.until(
        () => this.session() !== undefined || this.#isAway(),
        signal,
      );
      const session = this.session();
      if (session !== undefined) return session;
      // It may have become dormant before it was asked again.
      if (this.#isAway() && !this.#is('dormant')) throw this.whyNot();
    }
  }

  tools(): readonly Tool[] {
    return this.#server.tools;
  }

  lastFailure(): Error | undefined {
    const failure = this.#server.context?.failure ?? undefined;
    return failure === undefined ? undefined : failureError(failure, this.server);
  }

  retryHint(): string {
    const { context, runtime } = this.#server;
    const now = runtime.calls.clock.now();
    if (context === undefined || !this.#is('exhausted') || mayTryForCall(context, now)) return '';
    const waitMs = nextCallAttemptAt(context) - now;
    return ` A call in ${Math.ceil(waitMs / 1_000)} s or later causes another attempt.`;
  }

  /** Why the connection is settled without being usable. */
  whyNot(): Error {
    const { name: server, present, context } = this.#server;
    const { state } = present;
    const failure = context?.failure;
    if (this.#is('awaitingTrust')) {
      return new TrustRequiredError(`'${server}' must be trusted before it is started.`, {
        server,
      });
    }
    if (this.#is('authorizing')) return new AuthRequiredError(toFailure(failure), { server });
    if (state === 'failed') return failureError(toFailure(failure), server);
    const why = state === 'stopped' ? this.#server.whyNoSpawn : undefined;
    return new NotReadyError(why ?? `'${server}' is ${stateInWords(present)}.`, { server });
  }

  #ask(): void {
    const { ref, runtime } = this.#server;
    if (ref?.getSnapshot().status !== 'active') return;
    ref.send({ type: 'call.waiting', at: runtime.calls.clock.now() });
  }

  /** Settled without being usable: waiting is pointless. */
  #isAway(): boolean {
    return this.#is('settled') && !this.#is('usable');
  }

  #is(tag: Parameters<typeof hasTag>[1]): boolean {
    return hasTag(this.#server.present, tag);
  }
}
