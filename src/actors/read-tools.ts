/** Reads the whole list of tools and checks it. The list stays with its session until it is adopted. */
import type { BoundedSessionInput, SessionKey } from '../../machines/connection/connection.events.js';
import { listAll, type WholeList } from '../catalog/list-all.js';
import { checkTools } from '../catalog/tool-check.js';
import { attemptDetails, diagnose, type EffectPorts } from './effect-ports.js';
import { effect, whyFailed, type Nothing } from './effect.js';
import { requireClient } from './session-parts.js';

/**
 * The result for a server that does not declare tools; it is not asked for them (MCP specification, "Tools",
 * capabilities).
 */
const NO_TOOLS: WholeList = { items: [], problem: undefined };

export function readTools(ports: EffectPorts) {
  return effect<Nothing, BoundedSessionInput>(ports, {
    phase: 'list',
    limitMs: (input) => input.limitMs,
    expired: (_, limitMs) => ({
      code: 'list-timeout',
      message: `The server did not list its tools within ${limitMs} ms.`,
    }),
    details: attemptDetails(ports),
    run: async (key, signal) => {
      const { session } = requireClient(ports, key);
      const { items, problem } = await wholeList(ports, key, signal);
      signal.throwIfAborted();
      const { tools, problems } = checkTools(items);
      session.listed = { tools, problems: problem === undefined ? problems : [problem, ...problems] };
      return {};
    },
  });
}

async function wholeList(ports: EffectPorts, key: SessionKey, signal: AbortSignal): Promise<WholeList> {
  const { session, client } = requireClient(ports, key);
  if (session.capabilities.tools === undefined) return NO_TOOLS;
  try {
    return await listAll(client, 'tools/list', 'tools', signal);
  } catch (error) {
    const why = whyFailed(error, signal);
    if (why !== undefined) diagnose(ports, key, 'catalog-problem', `tools/list failed: ${why}`);
    throw error;
  }
}
