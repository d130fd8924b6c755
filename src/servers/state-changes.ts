import type { Observable } from 'rxjs';
import type { ConnectionState } from '../../machines/connection/connection.states.js';
import type { Publisher } from '../lifecycle/publish.js';
import { distinctUntilChanged } from '../lifecycle/rx.js';

export interface StateSource {
  readonly server: string;
  readonly present: () => ConnectionState;
  /** Whether the server was removed. */
  readonly isRemoved: () => boolean;
}

/**
 * Every state of a connection in order, the present one first. Events that are not delivered yet at the subscription are
 * skipped: the present state already includes them.
 */
export function stateChanges(publisher: Publisher, source: StateSource): Observable<ConnectionState> {
  const { server, present, isRemoved } = source;
  return publisher
    .observable<ConnectionState>((subscriber) => {
      const { published } = publisher;
      subscriber.next(present());
      if (isRemoved()) return subscriber.complete();
      const unfollow = publisher.onevent((event) => {
        if (event.seq <= published) return;
        if (event.type === 'connection.state' && event.server === server) subscriber.next(event.to);
        if (event.type === 'connection.removed' && event.server === server) subscriber.complete();
      });
      subscriber.add(unfollow);
    })
    .pipe(distinctUntilChanged());
}
