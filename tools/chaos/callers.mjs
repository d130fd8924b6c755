/**
 * Callers that call random tools, some with short timeouts, some with an abort. Checks that a call leaves no listener on
 * the signal of its caller.
 */
import { getEventListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { SeededRandom } from './seeded-random.mjs';

const TOOLS = [
  { tool: 'act', weight: 4 },
  { tool: 'put', weight: 2 },
  { tool: 'read', weight: 2 },
  { tool: 'slow', weight: 2 },
];
const TIMEOUT_MS = [150, 1_500];
const SLOW_MS = [50, 600];
const PAUSE_MS = [0, 250];
const GIVES_UP = 0.1;
const GIVE_UP_MS = [0, 300];
/** Share of the calls by exposed tool name instead of through the connection. */
const BY_TOOL_NAME = 0.5;
/** Additional time for a busy machine. */
const SPARE_MS = 10_000;

/** Calls until `signal` aborts; resolves when its last call has settled. */
export async function callUntil(signal, { troupe, ledger, names, seed, name }) {
  const random = new SeededRandom(seed);
  for (let number = 1; !signal.aborted; number += 1) {
    const call = choose(random, names);
    await makeCall(troupe, ledger, { ...call, id: `${name}-${number}` });
    await pause(random.between(...PAUSE_MS));
  }
}

/** Makes every random choice, needed or not, so that the outcome of a call does not change later choices. */
function choose(random, names) {
  const { tool } = random.pickWeighted(TOOLS);
  return {
    tool,
    server: random.pick(names),
    timeoutMs: random.between(...TIMEOUT_MS),
    ms: random.between(...SLOW_MS),
    byToolName: random.chance(BY_TOOL_NAME),
    givesUp: random.chance(GIVES_UP),
    giveUpMs: random.between(...GIVE_UP_MS),
  };
}

/** Makes a call and records its outcome in the ledger. Never rejects. */
export async function makeCall(troupe, ledger, call) {
  const { id, tool, server, timeoutMs, ms, byToolName, givesUp, giveUpMs } = call;
  const connection = troupe.connection(server);
  if (connection === undefined) return;
  const caller = new AbortController();
  const { signal } = caller;
  const timer = givesUp ? setTimeout(() => caller.abort(), giveUpMs) : undefined;
  const args = tool === 'slow' ? { id, ms } : { id };
  const options = { timeoutMs, signal };
  // Waiting to be sent and waiting for the answer have the timeout each, and a repetition doubles both.
  const limitMs = 4 * timeoutMs + SPARE_MS;
  const startedAt = performance.now();
  ledger.begin(id, tool);
  try {
    const result = byToolName
      ? await troupe.callTool(`mcp__${server}__${tool}`, args, options)
      : await connection.callTool(tool, args, options);
    ledger.answered(id, result, performance.now() - startedAt, limitMs);
  } catch (error) {
    ledger.failed(id, error, performance.now() - startedAt, limitMs);
  } finally {
    clearTimeout(timer);
  }
  ledger.listeners(id, getEventListeners(signal, 'abort').length);
}
