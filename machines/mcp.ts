/** The only door for MCP SDK types into the machines: types, never values. */
export type { Implementation, ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
