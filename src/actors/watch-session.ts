/**
 * Watches a session while its connection is ready and reports what happens to it: lost, quiet, idle, stable, list
 * changed. The only sender of session facts. Goes by other limits as soon as the entry has others. The tools of a session
 * that has replaced another come into use with it.
 */
import { fromCallback } from 'xstate';
import type { ConnectionEvent, WatchSessionInput } from '../../machines/connection.events.js';
import type { Clock } from '../ports.js';
import { maskFailure } from '../secrets.js';
import type { RawFailure } from '../transports/session-transport.js';
import { timeLeft, whenStill } from '../when-still.js';
import type { EffectPorts } from './effect-ports.js';
import type { KnownPlaces } from './known-places.js';
import { takeList } from './list-tools.js';

const SETTLING_MS = 100;

type Limits = Pick<WatchSessionInput, 'pingIdleMs' | 'stableMs' | 'idleStopMs'>;

export function watchSession(ports: EffectPorts, places: KnownPlaces) {
  return fromCallback<ConnectionEvent, WatchSessionInput>(({ input, sendBack }) => {
    const { clock } = ports;
    const { generation } = input;
    const session = ports.sessions.get(input);
    const lose = (raw: RawFailure): void =>
      sendBack({
        type: 'session.lost',
        generation,
        failure: maskFailure({ ...raw, phase: 'session', at: clock.now() }, ports.servers.mask(input.name)),
      });

    if (session?.transport === undefined || session.isClosing) {
      lose({ code: 'connection-lost', message: 'The session was gone before it was watched.' });
      return;
    }
    if (session.transport.ended !== undefined) {
      lose(session.transport.ended);
      return;
    }
    places.note(input.name, session.transport.url);
    if (session.prepared !== undefined) {
      takeList(ports, input, session.prepared);
      session.prepared = undefined;
    }
    session.onlost = lose;
    session.onlistchanged = (list) => {
      const told = { generation, at: clock.now() };
      if (list === 'tools') sendBack({ type: 'catalog.listChanged', ...told });
      else sendBack({ type: 'catalog.extrasChanged', ...told, list });
    };
    const since = clock.now();
    const { activeAt, usedAt } = session;
    const lastLife = (): number => (session.activeAt === activeAt ? since : session.activeAt);
    const lastUse = (): number => (session.usedAt === usedAt ? since : session.usedAt);
    const askIfQuiet = (): void => {
      if (!session.maySayNothing) sendBack({ type: 'session.quiet', generation });
    };
    let asking: (() => void) | undefined;
    let limits: Limits = input;
    const askSoon = (): void => {
      if (limits.pingIdleMs <= 0) return;
      // What broke may have been a call, which is about to settle.
      asking ??= after(clock, SETTLING_MS, () => {
        asking = undefined;
        askIfQuiet();
      });
    };
    session.ondoubt = askSoon;
    session.onoverdue = () => {
      if (timeLeft(clock, lastLife(), limits.pingIdleMs) === 0) askSoon();
    };
    const begin = ({ stableMs, pingIdleMs, idleStopMs }: Limits): readonly (() => void)[] => [
      after(clock, timeLeft(clock, since, stableMs), () => sendBack({ type: 'session.stable', generation })),
      whenStill(clock, pingIdleMs, lastLife, askIfQuiet),
      whenStill(clock, idleStopMs, lastUse, () => {
        if (!session.isBusy) sendBack({ type: 'session.idle', generation });
      }),
    ];
    let timers = begin(limits);
    const end = (): void => {
      for (const cancel of timers) cancel();
    };
    session.onretuned = ({ stableMs, ping, idleStopMs }) => {
      end();
      limits = { stableMs, pingIdleMs: ping.idleMs, idleStopMs };
      timers = begin(limits);
    };
    const stop = (): void => {
      end();
      asking?.();
      session.ondoubt = undefined;
      session.onoverdue = undefined;
      session.onretuned = undefined;
      session.onlost = undefined;
      session.onlistchanged = undefined;
      session.onend = undefined;
    };
    session.onend = stop;
    return stop;
  });
}

function after(clock: Clock, ms: number, fn: () => void): () => void {
  const timer = clock.setTimeout(fn, Math.max(0, ms));
  return () => clock.clearTimeout(timer);
}
