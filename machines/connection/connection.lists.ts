/**
 * What the two list regions of `ready` share: a change is recorded, a pause lets a burst of changes end, and then the
 * group is read.
 */
import type { ServerList } from './connection.events.js';
import type { ListGroup } from './list-plan.js';

type ChangeEvent = 'catalog.listChanged' | 'catalog.extrasChanged';

/** @param reading The sibling state that reads the group. */
export function listGroup<E extends ChangeEvent, R extends string>(group: ListGroup, event: E, reading: R) {
  const params = ({ event: { list = 'tools', at } }: { event: { list?: ServerList; at: number } }) => ({
    group,
    list,
    at,
  });
  const noted = { actions: { type: 'noteChanged', params } } as const;
  const changed = { target: 'debouncing', ...noted } as const;
  const further = [{ guard: { type: 'canWait', params }, ...changed, reenter: true }, noted] as const;
  return {
    /** Guard: a list changed while it was being read. */
    hasChanged: { type: 'hasChanged', params: { group } },
    begin: { type: 'beginReading', params: { group } },
    noted,
    changed,
    debouncing: {
      description: 'Waits for a burst of changes to end, up to a limit.',
      after: { listChangedDebounce: reading },
      on: {
        ...({ [event]: further } as Record<E, typeof further>),
        'connection.refresh': {
          target: reading,
          actions: { type: 'forgetChanged', params: { group } },
        },
      },
    },
  } as const;
}
