/** The whole list of tools, checked, kept, and told where it differs from the last one. */
import type {
  BoundedSessionInput,
  ListToolsOutput,
  SessionKey,
  Unsettled,
} from '../../machines/connection.events.js';
import { listAll, type WholeList } from '../catalog/list-all.js';
import { checkTools } from '../catalog/tool-check.js';
import { effect, whyFailed } from './effect.js';
import { diagnose, lastWords, type EffectPorts } from './effect-ports.js';
import { requireClient } from './session-parts.js';

/** A list can be wrong in as many places as it has tools; a person needs a few of them. */
const MOST_PROBLEMS_TOLD = 10;

/** A server that declares no tools is not asked for any (MCP specification, "Tools", capabilities). */
const NO_TOOLS: WholeList = { items: [], problem: undefined };

export function listTools(ports: EffectPorts) {
  return effect<Unsettled<ListToolsOutput>, BoundedSessionInput>(ports, {
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
      if (diff !== undefined) {
        const mask = ports.servers.mask(key.name);
        ports.publish({
          type: 'catalog.changed',
          connection: key.name,
          generation: key.generation,
          added: diff.added.map(mask),
          removed: diff.removed.map(mask),
          changed: diff.changed.map(mask),
          toolCount: tools.length,
        });
      }
      return { hash: catalog.hash, tools: catalog.tools.length };
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

function tellProblems(ports: EffectPorts, key: SessionKey, problems: readonly string[]): void {
  for (const problem of problems.slice(0, MOST_PROBLEMS_TOLD)) {
    diagnose(ports, key, 'catalog-problem', problem);
  }
  const untold = problems.length - MOST_PROBLEMS_TOLD;
  if (untold > 0) diagnose(ports, key, 'catalog-problem', `${untold} more problems of this kind.`);
}
