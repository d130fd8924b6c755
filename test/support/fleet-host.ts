/** What a host without connections says of itself, and a key of a fleet. */
import { CONNECTION_STATES } from '../../machines/connection/connection.states.js';
import type { FleetHost } from '../../src/fleet/hosts.js';

export const FLEET_KEY = Buffer.alloc(32, 7).toString('base64');

export const SAID: Omit<FleetHost, 'id'> = {
  version: '1.0.0',
  charts: 'a'.repeat(16),
  startedAt: 1,
  state: 'up',
  counts: Object.fromEntries(CONNECTION_STATES.map((state) => [state, 0])) as FleetHost['counts'],
};
