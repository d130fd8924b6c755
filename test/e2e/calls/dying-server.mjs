// A stdio server whose tools end its process, with or without an answer first.
import { createInterface } from 'node:readline';

const TOOLS = ['exit', 'answer-and-exit', 'answer-without-newline-and-exit', 'stop-reading-and-exit'];
const DIES_AFTER_MS = 300;

const input = createInterface({ input: process.stdin });
const write = (text, then) => process.stdout.write(text, then);
const result = (id, value) => JSON.stringify({ jsonrpc: '2.0', id, result: value });
const exit = () => process.exit(3);

function list() {
  return { tools: TOOLS.map((name) => ({ name, inputSchema: { type: 'object' } })) };
}

function initialize({ protocolVersion }) {
  return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'dying', version: '1' } };
}

function call(id, name) {
  const last = result(id, { content: [{ type: 'text', text: 'last words' }] });
  if (name === 'exit') exit();
  if (name === 'answer-and-exit') write(`${last}\n`, exit);
  if (name === 'answer-without-newline-and-exit') write(last, exit);
}

input.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') write(`${result(id, initialize(params))}\n`);
  if (method === 'tools/list') write(`${result(id, list())}\n`);
  if (method === 'tools/call') call(id, params.name);
  if (method === 'ping') {
    write(`${result(id, {})}\n`);
  }
});

// Stops reading after the list of tools, so that the pipe fills up.
if (process.argv.includes('--deaf')) {
  input.on('line', (line) => {
    if (JSON.parse(line).method !== 'tools/list') return;
    input.pause();
    process.stdin.pause();
    setTimeout(exit, DIES_AFTER_MS);
  });
}
