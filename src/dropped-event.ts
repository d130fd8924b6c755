/** What is published of an event that the door did not let through to its chart. */
import type { AnyMachineSnapshot } from 'xstate';
import type { ConnectionContext } from '../machines/connection.events.js';
import type { Dropped } from './actors/door.js';
import type { LifecycleEventBody } from './lifecycle/event.js';
import { statePath } from './lifecycle/state-path.js';

/** A command that was not obeyed is a rejection; a fact that came too late or to nobody's use is an oddity. */
export function tellDropped(
  snapshot: AnyMachineSnapshot,
  dropped: Dropped,
  allowed: () => readonly string[],
): LifecycleEventBody {
  const { name, generation } = snapshot.context as ConnectionContext;
  const about = { connection: name, generation };
  const { state } = statePath(snapshot.value);
  if (dropped.kind === 'command' && dropped.verdict !== 'accepted') {
    const { event, verdict } = dropped;
    return { type: 'connection.rejected', ...about, state, event, reason: verdict, allowed: allowed() };
  }
  const isStale = dropped.kind === 'stale';
  const message = isStale
    ? `'${dropped.event}' of session ${dropped.generation} came after that session.`
    : `'${dropped.event}' means nothing while ${state}.`;
  return { type: 'diagnostic', ...about, kind: isStale ? 'stale-fact' : 'unwanted-fact', message };
}
