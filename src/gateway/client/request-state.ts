/** The state of a held request in a fleet: it names the host that holds the request, sealed with the key of the fleet. */
import { randomUUID } from 'node:crypto';
import type { FleetKey } from '../../fleet/fleet-key.js';

const NAME = 'request-state';

export function sealedState(key: FleetKey, host: string): string {
  return key.seal(NAME, `${host}.${randomUUID()}`);
}

/** The host; undefined if it is the state of a server, or was changed. */
export function hostOfState(key: FleetKey, state: unknown): string | undefined {
  if (typeof state !== 'string' || state.length > MOST) return undefined;
  try {
    return key.open(NAME, state).split('.')[0];
  } catch {
    return undefined;
  }
}

const MOST = 500;
