/**
 * Watches a session while its connection is ready and reports what happens to it: lost, unreachable, quiet, idle,
 * stable, list changed (`list-watch.ts`), stream of changes ended. The only sender of session facts. The chart sends new limits when the entry's
 * limits change.
 */
import { fromCallback } from 'xstate';
import type {
  ConnectionEvent,
  ServerList,
  WatchLimits,
  WatchSessionEvent,
  WatchSessionInput,
  BoundedSessionInput,
  SubscribeOutput,
  Unsettled,
} from '../../machines/connection/connection.events.js';
import type { Failure } from '../../machines/policy/failure.js';
import { maskFailure } from '../secrets/secrets.js';
import type { Clock } from '../ports.js';
import type { Session, SessionListener, SessionSignal } from '../sessions/sessions.js';
import type { RawFailure } from '../failures/transport-error.js';
import { Stillness, timeLeft } from '../async/timers.js';
import { diagnose, type EffectPorts, requireClient } from './effect-ports.js';
import { ListWatch, type ListWatchPorts } from './list-watch.js';
import { effect, whyFailed } from './effect.js';

/**
 * How long to wait before a ping: the exchange that broke may belong to a call that is about to settle. Wishes for the
 * stream of changes are gathered as long.
 */
const SETTLING_MS = 100;

type Report = (event: ConnectionEvent) => void;

export function watchSession(ports: EffectPorts) {
  return fromCallback<WatchSessionEvent, WatchSessionInput>(({ input, sendBack, receive }) => {
    const session = ports.sessions.get(input);
    const ended = whyEnded(session);
    if (session === undefined || ended !== undefined) {
      const failure = lossOf(ports, input.name, ended ?? GONE);
      (sendBack as Report)({ type: 'session.lost', generation: input.generation, failure });
      return;
    }
    const watch = new SessionWatch(ports, session, input, sendBack);
    receive(({ limits }) => watch.setLimits(limits));
    return () => watch.end();
  });
}

const GONE: RawFailure = {
  code: 'connection-lost',
  message: 'The session ended before it could be watched.',
};

function whyEnded(session: Session | undefined): RawFailure | undefined {
  return session?.transport === undefined || session.isClosing ? GONE : session.transport.ended;
}

function lossOf({ clock, servers }: EffectPorts, name: string, raw: RawFailure): Failure {
  return maskFailure({ ...raw, phase: 'session', at: clock.now() }, servers.mask(name));
}

class SessionWatch implements SessionListener, ListWatchPorts {
  readonly session: Session;
  readonly #ports: EffectPorts;
  readonly #report: Report;
  readonly #lists: ListWatch;
  readonly #since: number;
  /** Times of the last activity and the last call when the watch began. Both count as the beginning of the watch. */
  readonly #activeBefore: number;
  readonly #usedBefore: number;
  #limits!: WatchLimits;
  #stable: unknown;
  #quiet: Stillness | undefined;
  #idle: Stillness | undefined;
  #asking: (() => void) | undefined;
  #subscribing: (() => void) | undefined;

  constructor(ports: EffectPorts, session: Session, limits: WatchLimits, report: Report) {
    this.session = session;
    this.#ports = ports;
    this.#report = report;
    this.#since = ports.clock.now();
    this.#activeBefore = session.activeAt;
    this.#usedBefore = session.usedAt;
    this.#begin(limits);
    this.#lists = new ListWatch(this);
    session.watch(this);
  }

  get clock(): Clock {
    return this.#ports.clock;
  }

  setLimits(limits: WatchLimits): void {
    this.#cancel();
    this.#begin(limits);
  }

  end(): void {
    this.session.unwatch(this);
    this.#cancel();
    this.#lists.end();
    this.#subscribing?.();
    this.#subscribing = undefined;
    this.#asking?.();
    this.#asking = undefined;
  }

  heard(signal: SessionSignal): void {
    const { clock } = this;
    const { name, generation } = this.session.key;
    switch (signal.kind) {
      case 'lost': {
        const failure = lossOf(this.#ports, name, signal.failure);
        return this.#report({ type: 'session.lost', generation, failure });
      }
      case 'unreachable': {
        const failure = lossOf(this.#ports, name, signal.failure);
        return this.#report({ type: 'session.unreachable', generation, count: signal.count, failure });
      }
      case 'listChanged':
        return this.#lists.announced(signal.list);
      case 'stale':
        return this.#lists.ranOut(signal.list);
      case 'unheard':
        return this.#report({ type: 'subscription.ended', generation, at: clock.now() });
      case 'interest':
        return this.#subscribeSoon();
      case 'doubt':
        return this.#askSoon();
      case 'overdue':
        if (timeLeft(clock, this.#lastLife(), this.#limits.pingIdleMs) === 0) this.#askSoon();
        return;
      case 'ending':
        return this.end();
    }
  }

  changed(list: ServerList): void {
    const at = this.clock.now();
    const { generation } = this.session.key;
    if (list === 'tools') this.#report({ type: 'catalog.listChanged', generation, at });
    else this.#report({ type: 'catalog.extrasChanged', generation, at, list });
  }

  report(message: string): void {
    diagnose(this.#ports, this.session.key, 'catalog-problem', message);
  }

  #begin(limits: WatchLimits): void {
    const { clock } = this;
    const { generation } = this.session.key;
    const { stableMs, pingIdleMs, idleStopMs } = limits;
    this.#limits = limits;
    this.#stable = clock.setTimeout(
      () => this.#report({ type: 'session.stable', generation }),
      timeLeft(clock, this.#since, stableMs),
    );
    this.#quiet = new Stillness(clock, pingIdleMs, this.#lastLife, () => this.#askIfQuiet());
    if (idleStopMs <= 0) return;
    this.#idle = new Stillness(clock, idleStopMs, this.#lastUse, () => {
      if (!this.session.isBusy) this.#report({ type: 'session.idle', generation });
    });
  }

  #cancel(): void {
    this.clock.clearTimeout(this.#stable);
    this.#quiet?.end();
    this.#idle?.end();
  }

  readonly #lastLife = (): number => {
    const { activeAt } = this.session;
    return activeAt === this.#activeBefore ? this.#since : activeAt;
  };

  readonly #lastUse = (): number => {
    const { usedAt } = this.session;
    return usedAt === this.#usedBefore ? this.#since : usedAt;
  };

  #askIfQuiet(): void {
    const { mayBeSilent, key } = this.session;
    if (!mayBeSilent) this.#report({ type: 'session.quiet', generation: key.generation });
  }

  /** Once for interests in quick succession. */
  #subscribeSoon(): void {
    if (this.#subscribing !== undefined) return;
    const { clock } = this;
    const timer = clock.setTimeout(() => {
      this.#subscribing = undefined;
      this.#report({ type: 'subscription.wanted', generation: this.session.key.generation });
    }, SETTLING_MS);
    this.#subscribing = () => clock.clearTimeout(timer);
  }

  #askSoon(): void {
    if (this.#limits.pingIdleMs <= 0 || this.#asking !== undefined) return;
    const { clock } = this;
    const timer = clock.setTimeout(() => {
      this.#asking = undefined;
      this.#askIfQuiet();
    }, SETTLING_MS);
    this.#asking = () => clock.clearTimeout(timer);
  }
}

// Opens the stream on which a server of the new era reports changes, in place of an earlier one. The end of the stream
// becomes a signal of its session.

export function subscribe(ports: EffectPorts) {
  return effect<Unsettled<SubscribeOutput>, BoundedSessionInput>(ports, {
    phase: 'session',
    limitMs: (input) => input.limitMs,
    expired: (_, limitMs) => ({
      code: 'unresponsive',
      message: `The server did not acknowledge the stream of changes within ${limitMs} ms.`,
    }),
    run: async (key, signal) => {
      const { session, client } = requireClient(ports, key);
      session.listening = undefined;
      try {
        const listening = await client.listen?.(signal);
        session.listening = listening;
        void listening?.over.then(() => {
          if (session.listening === listening) session.signal({ kind: 'unheard' });
        });
        return { isOpen: listening !== undefined };
      } catch (error) {
        const why = whyFailed(error, signal);
        if (why !== undefined) {
          const message = `The server does not report changes of its lists: ${why}`;
          diagnose(ports, key, 'no-listening-stream', message);
        }
        throw error;
      }
    },
  });
}
