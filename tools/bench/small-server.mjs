// A small MCP server without dependencies, the same for every contender. `--silent` never answers.
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';

const tools = Array.from({ length: 10 }, (_, i) => ({
  name: `tool_${i}`,
  description: 'Says what it was given.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
}));

/** The answer to one request, for any transport. */
export function answer({ id, method, params }) {
  const results = {
    initialize: () => ({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'small-server', version: '1.0.0' },
    }),
    'tools/list': () => ({ tools }),
    'tools/call': () => ({ content: [{ type: 'text', text: JSON.stringify(params.arguments) }] }),
    ping: () => ({}),
  };
  const result = results[method]?.();
  const error = { code: -32601, message: `Method not found: ${method}` };
  return { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) };
}

/** The same server in process, for `{ type: 'in-process', server }`. */
export function inProcessServer() {
  return {
    async connect(transport) {
      transport.onmessage = (message) => {
        if (message.id !== undefined) void transport.send(answer(message));
      };
      await transport.start();
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isSilent = process.argv.includes('--silent');
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.id !== undefined && !isSilent) process.stdout.write(`${JSON.stringify(answer(message))}\n`);
  });
}
