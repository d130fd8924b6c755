/** The recipients of events in a group. */
import { isMachineAddress } from '../../actor-system/actor-path.js';
import type { CauseEntry, Delivery } from '../format/entry.js';

/** The machines that received an event. */
export function touchedBy(group: readonly CauseEntry[]): ReadonlySet<string> {
  const touched = new Set<string>();
  for (const { to, derived } of group) {
    if (isMachineAddress(to)) touched.add(to);
    if (derived === undefined) continue;
    for (const delivery of derived) if (isMachineAddress(delivery.to)) touched.add(delivery.to);
  }
  return touched;
}

/** By address, in order. */
export function byReceiver(deliveries: readonly Delivery[]): Map<string, Delivery['event'][]> {
  const events = new Map<string, Delivery['event'][]>();
  for (const { to, event } of deliveries) {
    const own = events.get(to);
    if (own === undefined) events.set(to, [event]);
    else own.push(event);
  }
  return events;
}
