import assert from 'node:assert/strict';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { createTroupe } from 'mcp-troupe';
import { z } from 'zod';

const server = new McpServer({ name: 'demo', version: '1.0.0' });
server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => ({
  content: [{ type: 'text', text: String(a + b) }],
}));

const troupe = createTroupe({ servers: { demo: { type: 'in-process', server } } });
const report = await troupe.start();
assert.deepEqual(report.ready, ['demo']);

const result = await troupe.callTool('mcp__demo__add', { a: 1, b: 2 });
assert.deepEqual(result.content, [{ type: 'text', text: '3' }]);

await troupe.close();
