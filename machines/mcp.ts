/** The only import of the machines from the rest: types of the protocol. */
export type { Tool } from '../src/mcp/server-offers.js';
export type { Implementation, ServerCapabilities } from '../src/mcp/session.js';
