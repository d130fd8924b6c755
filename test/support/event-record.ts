/** Records the lifecycle events of a troupe in a list, and waits for events. */
import type { Observable } from 'rxjs';
import type { LifecycleEvent, LifecycleEventType } from '../../src/lifecycle/event.js';

export type EventOf<T extends LifecycleEventType> = Extract<LifecycleEvent, { type: T }>;

export interface EventRecord {
  readonly all: readonly LifecycleEvent[];
  of<T extends LifecycleEventType>(type: T): EventOf<T>[];
  /** The states that the events report for a connection, in order, without substates. */
  states(connection: string): string[];
  /** Resolves with the first matching event, past or future. */
  when<T extends LifecycleEventType>(type: T, fits?: (event: EventOf<T>) => boolean): Promise<EventOf<T>>;
  /** Resolves with the next matching event. */
  next<T extends LifecycleEventType>(type: T, fits?: (event: EventOf<T>) => boolean): Promise<EventOf<T>>;
}

export function recordEvents(events$: Observable<LifecycleEvent>): EventRecord {
  const all: LifecycleEvent[] = [];
  const waiting = new Set<(event: LifecycleEvent) => void>();
  events$.subscribe((event) => {
    all.push(event);
    for (const look of waiting) look(event);
  });
  const of = <T extends LifecycleEventType>(type: T): EventOf<T>[] =>
    all.filter((event): event is EventOf<T> => event.type === type);
  const next: EventRecord['next'] = (type, fits = () => true) =>
    new Promise((resolve) => {
      const look = (event: LifecycleEvent): void => {
        if (event.type !== type || !fits(event as EventOf<typeof type>)) return;
        waiting.delete(look);
        resolve(event as EventOf<typeof type>);
      };
      waiting.add(look);
    });
  return {
    all,
    of,
    states: (connection) =>
      of('connection.state')
        .filter((event) => event.server === connection && event.from !== event.to)
        .map(({ to }) => to),
    next,
    when: async (type, fits = () => true) => of(type).find(fits) ?? next(type, fits),
  };
}
