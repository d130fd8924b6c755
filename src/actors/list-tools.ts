/** The whole list of tools, checked, kept, and told where it differs from the last one. */
import type {
  BoundedSessionInput,
  ListToolsOutput,
  SessionKey,
  Unsettled,
} from '../../machines/connection.events.js';
import { listAll, type WholeList } from '../catalog/list-all.js';
import { checkTools } from '../catalog/tool-check.js';
import { effect, whyFailed, type EffectSpec } from './effect.js';
import { diagnose, lastWords, type EffectPorts } from './effect-ports.js';
import { requireClient } from './session-parts.js';
import { tellChange, tellProblems } from './tell-list.js';

/** A server that declares no tools is not asked for any (MCP specification, "Tools", capabilities). */
const NO_TOOLS: WholeList = { items: [], problem: undefined };

export function listTools(ports: EffectPorts) {
  return effect(ports, listing(ports));
}

export function listing(ports: EffectPorts): EffectSpec<Unsettled<ListToolsOutput>, BoundedSessionInput> {
  return {
    phase: 'list',
    limitMs: (input) => input.limitMs,
    expired: (_, limitMs) => ({
      code: 'list-timeout',
      message: `The server did not list its tools within ${limitMs} ms.`,
    }),
    details: lastWords(ports),
    run: async (key, signal) => {
      const list = await wholeList(ports, key, signal);
      signal.throwIfAborted();
      const { tools, problems } = checkTools(list.items);
      tellProblems(ports, key, list.problem === undefined ? problems : [list.problem, ...problems]);
      const { catalog, diff } = ports.catalogs.replace(key.name, tools);
      if (diff !== undefined) tellChange(ports, key, 'tools', diff);
      ports.cache?.keep(key.name, ports.sessions.get(key)?.cacheKey, catalog);
      // Whoever is told that the connection is ready finds its tools in the list.
      await ports.reviews?.judged(key.name);
      return { hash: catalog.hash, tools: catalog.tools.length };
    },
  };
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
