/** The only import of the MCP SDK in the machines: types, never values. */
export type { Implementation, ServerCapabilities, Tool } from '@modelcontextprotocol/sdk/types.js';
