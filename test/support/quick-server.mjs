// A server that is there at once: `echo` says what it was given, `wait` answers after so many milliseconds.
import { createInterface } from 'node:readline';

const say = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...result })}\n`);
const text = (words) => ({ result: { content: [{ type: 'text', text: words }] } });
const tools = ['echo', 'wait'].map((name) => ({ name, inputSchema: { type: 'object' } }));

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const serverInfo = { name: 'quick', version: '1' };
  if (method === 'initialize')
    say(id, {
      result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo },
    });
  else if (method === 'tools/list') say(id, { result: { tools } });
  else if (method !== 'tools/call') say(id, { error: { code: -32601, message: 'Method not found' } });
  else if (params.name === 'echo') say(id, text(`Echo: ${params.arguments.message}`));
  else setTimeout(() => say(id, text('waited')), params.arguments.ms);
});
