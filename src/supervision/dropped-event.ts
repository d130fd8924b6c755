/** What is published about an event that the filter has not passed on to its chart. */
import type { AnyMachineSnapshot, StateValue } from 'xstate';
import type { ConnectionContext } from '../../machines/connection/connection.events.js';
import type { ManagerCommand } from '../../machines/manager/manager.events.js';
import { phaseOf } from '../../machines/manager/manager.phase.js';
import { publicState } from '../../machines/connection/public-state.js';
import { acceptedOf } from '../../machines/verdict.js';
import type { Dropped } from '../actor-system/event-filter.js';
import type { LifecycleEventBody } from '../lifecycle/event.js';

/** For a connection: a command becomes a rejection; a fact that is stale or unwanted becomes a diagnostic. */
export function reportRejected(
  snapshot: AnyMachineSnapshot,
  dropped: Dropped,
  allowed: () => readonly string[],
): LifecycleEventBody {
  const { name, generation } = snapshot.context as ConnectionContext;
  const about = { server: name, generation };
  const { state } = publicState(snapshot.value as StateValue);
  if (dropped.kind === 'command') {
    const { event, verdict } = dropped;
    return { type: 'connection.rejected', ...about, state, event, reason: verdict, allowed: allowed() };
  }
  const isStale = dropped.kind === 'stale';
  const message = isStale
    ? `'${dropped.event}' of session ${dropped.generation} arrived after that session had ended.`
    : `'${dropped.event}' has no effect while ${state}.`;
  return { type: 'diagnostic', ...about, kind: isStale ? 'stale-fact' : 'unwanted-fact', message };
}

/** The same for an event to the manager. */
export function reportManagerRejected(snapshot: AnyMachineSnapshot, dropped: Dropped): LifecycleEventBody {
  const state = phaseOf(snapshot.value as StateValue);
  const { event } = dropped;
  if (dropped.kind === 'command') {
    const reason = dropped.verdict;
    return { type: 'manager.rejected', state, event, reason, allowed: allowedOf(snapshot) };
  }
  return { type: 'diagnostic', kind: 'unwanted-fact', message: `'${event}' has no effect while ${state}.` };
}

const PROBES: readonly ManagerCommand[] = [
  { type: 'manager.open' },
  { type: 'manager.start', specs: [] },
  { type: 'manager.add' } as ManagerCommand,
  { type: 'network.changed', online: true, at: 0 },
  { type: 'network.changed', online: false, at: 0 },
  { type: 'manager.stop' },
];

/** Commands that the manager would accept now. */
export function allowedOf(snapshot: AnyMachineSnapshot): readonly string[] {
  return acceptedOf(snapshot, PROBES).map(({ type }) => type);
}
