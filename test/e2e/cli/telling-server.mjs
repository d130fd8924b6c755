// A server that tells about itself. `journal` gets a line when it starts, when a call is cancelled and when it ends.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [journal, extra] = process.argv.slice(2);
const note = (what) => appendFileSync(journal, `${what} ${process.pid}\n`);
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const names = ['pid', 'variable', 'wait', 'log', 'long', ...(extra === undefined ? [] : [extra])];
const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }));
const text = (words) => ({ content: [{ type: 'text', text: words }] });

function answer(id, name, { words } = {}) {
  if (name === 'wait') return note('waiting');
  if (name === 'log') {
    console.error(words);
    const params = { level: 'warning', data: `said ${words}` };
    write({ method: 'notifications/message', params });
  }
  const result =
    { pid: `${process.pid}`, variable: `${process.env.TOLD}`, long: 'ü'.repeat(300_000) }[name] ?? 'done';
  return write({ id, result: text(result) });
}

note('started');
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const serverInfo = { name: 'telling', version: '1' };
    const capabilities = { tools: {}, logging: {} };
    if (method === 'initialize')
      write({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } });
    else if (method === 'tools/list') write({ id, result: { tools } });
    else if (method === 'tools/call') answer(id, params.name, params.arguments);
    else if (method === 'notifications/cancelled') note('cancelled');
    else if (id !== undefined) write({ id, result: {} });
  })
  .on('close', () => note('ended'));
