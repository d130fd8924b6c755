/**
 * An MCP server that runs once in the fleet: while it runs, it writes the token of its lease, its pid and the time into a file,
 * every 5 ms. `beating-server.mjs FILE`. Its tool `who` answers with the token.
 */
import { createInterface } from 'node:readline';
import { beat } from './beat.mjs';

const token = process.env.TROUPE_FENCE ?? 'none';
beat(process.argv[2]);

const text = (words) => ({ content: [{ type: 'text', text: words }] });
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'beating', version: '1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: [
      {
        name: 'who',
        description: 'The token of the lease.',
        inputSchema: { type: 'object' },
        annotations: { readOnlyHint: true },
      },
    ],
  }),
  'tools/call': () => text(`${token} ${process.pid}`),
};
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const outcome =
    answer === undefined ? { error: { code: -32601, message: 'unknown' } } : { result: answer(params ?? {}) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`);
});
lines.on('close', () => process.exit(0));
