/** What the hosts of a fleet share, and the engine within one process. */
export { createFleet, type Fleet, type FleetOptions } from './stores.js';
export type { FleetHost, FleetHosts } from './hosts.js';
export { createMemoryEngine } from './memory-engine.js';
export { FleetError, type FleetErrorCode } from './engine.js';
export type { FleetEngine, FleetEntry, FleetLease, FleetLine, PutTerms, StopFleet } from './engine.js';
