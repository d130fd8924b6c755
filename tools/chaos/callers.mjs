/**
 * Callers that call whatever is there, each with choices of its own, some impatient, some giving up; and the check
 * that a call leaves no listener on its caller's signal.
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
/** By the name for the model rather than by the connection. */
const BY_TOOL_NAME = 0.5;
/** What a busy machine adds. */
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

/** Every choice is drawn, needed or not, so that what happens to one call changes no later choice. */
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

/** Calls, and enters the outcome in the ledger. Never rejects. */
export async function makeCall(troupe, ledger, call) {
  const { id, tool, server, timeoutMs, ms, byToolName, givesUp, giveUpMs } = call;
  const connection = troupe.connection(server);
  if (connection === undefined) return;
  const patience = new AbortController();
  const { signal } = patience;
  const timer = givesUp ? setTimeout(() => patience.abort(), giveUpMs) : undefined;
  const args = tool === 'slow' ? { id, ms } : { id };
  const options = { timeoutMs, signal };
  // It may wait that long to be sent, that long for its answer, and as long again where it is repeated.
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
