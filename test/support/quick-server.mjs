// A server that starts quickly: `echo` returns its message, `wait` answers after `ms` milliseconds.
import { createInterface } from 'node:readline';

const reply = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...result })}\n`);
const text = (words) => ({ result: { content: [{ type: 'text', text: words }] } });
const tools = ['echo', 'wait'].map((name) => ({ name, inputSchema: { type: 'object' } }));

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const serverInfo = { name: 'quick', version: '1' };
  if (method === 'initialize')
    reply(id, {
      result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo },
    });
  else if (method === 'tools/list') reply(id, { result: { tools } });
  else if (method !== 'tools/call') reply(id, { error: { code: -32601, message: 'Method not found' } });
  else if (params.name === 'echo') reply(id, text(`Echo: ${params.arguments.message}`));
  else setTimeout(() => reply(id, text('waited')), params.arguments.ms);
});
