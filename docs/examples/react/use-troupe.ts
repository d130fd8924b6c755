/** Hooks for React in the process of a troupe: a component is rendered again when what it shows has changed. */
import { useCallback, useSyncExternalStore } from 'react';
import type { Connection, ConnectionState, Troupe, TroupeList } from 'mcp-troupe';

/** A list of the troupe: `useTroupe(troupe, 'status')`, or `tools`, `resources`, `resourceTemplates`, `prompts`. */
export function useTroupe<L extends TroupeList>(troupe: Troupe, list: L): Troupe[L] {
  const subscribe = useCallback((changed: () => void) => troupe.onChange(list, changed), [troupe, list]);
  const read = (): Troupe[L] => troupe[list];
  return useSyncExternalStore(subscribe, read, read);
}

/** The state of one connection. */
export function useConnectionState(connection: Connection): ConnectionState {
  const subscribe = useCallback((changed: () => void) => connection.onState(changed), [connection]);
  const read = (): ConnectionState => connection.state;
  return useSyncExternalStore(subscribe, read, read);
}
