/**
 * The MCP server behind every transport of a chaos run, and the moods that make it misbehave. No dependencies, because
 * many of them run at the same time.
 *
 * Tools: `act` has a side effect that must not happen twice, `put` one that may, `read` has none, `slow` acts after
 * `ms`. A side effect is one line in the journal, written when it happens.
 */
import { appendFileSync } from 'node:fs';

const ID = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };

const TOOLS = [
  { name: 'act', inputSchema: ID, annotations: { readOnlyHint: false, idempotentHint: false } },
  { name: 'put', inputSchema: ID, annotations: { readOnlyHint: false, idempotentHint: true } },
  { name: 'read', inputSchema: ID, annotations: { readOnlyHint: true } },
  {
    name: 'slow',
    inputSchema: { ...ID, properties: { ...ID.properties, ms: { type: 'number' } } },
    annotations: { readOnlyHint: false, idempotentHint: false },
  },
];

const RESULTS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'chaos-server', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: TOOLS }),
  'tools/call': ({ arguments: { id } }) => ({ content: [{ type: 'text', text: id }] }),
  ping: () => ({}),
};

export const WELL = { name: 'well' };

/** Appends one line atomically, because several processes write to the file. */
export function note(journal, entry) {
  appendFileSync(journal, `${JSON.stringify(entry)}\n`);
}

/**
 * Handles one message in the current mood: calls `reply` with the answer, or `cut` to end the session, or neither.
 * `later` is a `setTimeout` of the host.
 */
export function serve(message, { mood, journal, reply, cut, later }) {
  const { id, method, params = {} } = message;
  if (id === undefined || method === undefined || mood.name === 'silent') return;
  const tool = method === 'tools/call' ? params.name : undefined;
  if (tool !== undefined && mood.name === 'cuts-before') {
    cut();
    return;
  }
  const finish = () => {
    if (tool !== undefined && tool !== 'read') note(journal, { ev: tool, id: params.arguments.id });
    if (tool !== undefined && mood.name === 'cuts-after') cut();
    else reply(answerTo(id, method, params));
  };
  const delayMs = (mood.name === 'slow' ? mood.ms : 0) + (tool === 'slow' ? params.arguments.ms : 0);
  if (delayMs === 0) finish();
  else later(finish, delayMs);
}

function answerTo(id, method, params) {
  const result = RESULTS[method]?.(params);
  const error = { code: -32601, message: `Method not found: ${method}` };
  return { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) };
}
