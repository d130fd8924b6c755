/** A program of the new era that exits, or says nothing, when it gets `initialize`: `node shy-program.mjs exit|silent`. */
import { createInterface } from 'node:readline';

const [how] = process.argv.slice(2);
const HINTS = { resultType: 'complete', ttlMs: 60_000, cacheScope: 'private' };
const RESULTS = {
  'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
  'tools/list': { tools: [{ name: 'shy', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: String(process.pid) }] },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize' && how === 'exit') process.exit(1);
  const result = RESULTS[method];
  if (result === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: { ...HINTS, ...result } })}\n`);
});
