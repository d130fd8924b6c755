/** Reads the whole list of tools and checks it. The list stays with its session until it is adopted. */
import type { BoundedSessionInput } from '../../machines/connection/connection.events.js';
import { listAll, refusalAsProblem, type WholeList } from '../catalog/list-all.js';
import { checkTools, unlisted } from '../catalog/tool-check.js';
import { attemptDetails, diagnose, type EffectPorts } from './effect-ports.js';
import { effect, whyFailed, type Nothing } from './effect.js';
import { requireClient } from './session-parts.js';

/**
 * The result for a server that does not declare tools; it is not asked for them (MCP specification, "Tools",
 * capabilities).
 */
const NO_TOOLS: WholeList = { items: [], problem: undefined };

const REFUSED_HINT =
  'The handshake succeeded, but the first list of tools failed: the log of the server may say why, for example that it lacks credentials.';

export function readTools(ports: EffectPorts) {
  return effect<Nothing, BoundedSessionInput>(ports, {
    phase: 'list',
    limitMs: (input) => input.limitMs,
    expired: (_, limitMs) => ({
      code: 'list-timeout',
      message: `The server did not list its tools within ${limitMs} ms.`,
    }),
    details: (key) => ({ hint: REFUSED_HINT, ...attemptDetails(ports)(key) }),
    run: async (key, signal) => {
      const { session } = requireClient(ports, key);
      const list = await wholeList(ports, key, signal);
      const { items, problem, isRefused = false } = list;
      signal.throwIfAborted();
      session.toolsListed = isRefused ? undefined : items.length;
      const { tools, problems, leftOut } = checkTools(items);
      session.listed = {
        tools,
        leftOut: [...leftOut, ...unlisted(list)],
        problems: problem === undefined ? problems : [problem, ...problems],
      };
      return {};
    },
  });
}

async function wholeList(
  ports: EffectPorts,
  key: BoundedSessionInput,
  signal: AbortSignal,
): Promise<WholeList> {
  const { session, client } = requireClient(ports, key);
  if (session.capabilities.tools === undefined) return NO_TOOLS;
  try {
    session.listReads.begin(['tools']);
    const request = {
      method: 'tools/list',
      key: 'tools',
      limitMs: key.limitMs,
      limits: ports.servers.settings(key.name).limits,
    };
    const list = await listAll(client, ports.clock, request, signal);
    session.listReads.end(['tools'], ports.clock.now(), list.ttlMs);
    return refusalAsProblem(request, list);
  } catch (error) {
    session.listReads.end(['tools'], ports.clock.now());
    const why = whyFailed(error, signal);
    if (why !== undefined) diagnose(ports, key, 'catalog-problem', `tools/list failed: ${why}`);
    throw error;
  }
}
