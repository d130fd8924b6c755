/** Events for the chart itself, created from its current context. */
import type { ConnectionEvent } from '../../../machines/connection/connection.events.js';
import { actorOf } from './account.js';

export const START = { type: 'connection.start' } as const;
export const RESTART = { type: 'connection.restart' } as const;
export const RETRY = { type: 'connection.retry' } as const;
export const REFRESH = { type: 'connection.refresh' } as const;
export const STOP = { type: 'connection.stop', reason: 'stop' } as const;

/** The entry has changed, but its transport and policy have not. */
export function reload(wanted = true): ConnectionEvent {
  const { transport, policy } = actorOf('connection').getSnapshot().context;
  return { type: 'connection.reload', transport, policy, wanted };
}

export function waitingCall(): ConnectionEvent {
  return { type: 'call.waiting', at: Date.now() };
}

export function listChanged(): ConnectionEvent {
  const { generation } = actorOf('connection').getSnapshot().context;
  return { type: 'catalog.listChanged', generation, at: Date.now() };
}
