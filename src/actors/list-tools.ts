/** The whole list of tools, checked, kept, and told where it differs from the last one. */
import type { BoundedSessionInput, ListToolsOutput, Unsettled } from '../../machines/connection.events.js';
import { listAll } from '../catalog/list-all.js';
import { checkTools } from '../catalog/tool-check.js';
import { effect, whyFailed } from './effect.js';
import { diagnose, lastWords, type EffectPorts } from './effect-ports.js';
import { requireClient } from './session-parts.js';

/** A list can be wrong in as many places as it has tools; a person needs a few of them. */
const MOST_PROBLEMS_TOLD = 10;

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
      const { client } = requireClient(ports, key);
      const list = await listAll(client, 'tools/list', 'tools', signal).catch((error: unknown) => {
        const why = whyFailed(error, signal);
        if (why !== undefined) diagnose(ports, key, 'catalog-problem', `tools/list failed: ${why}`);
        throw error;
      });
      signal.throwIfAborted();
      const { tools, problems } = checkTools(list.items);
      const found = list.problem === undefined ? problems : [list.problem, ...problems];
      for (const problem of found.slice(0, MOST_PROBLEMS_TOLD))
        diagnose(ports, key, 'catalog-problem', problem);
      const untold = found.length - MOST_PROBLEMS_TOLD;
      if (untold > 0) diagnose(ports, key, 'catalog-problem', `${untold} more problems of this kind.`);
      const { catalog, diff } = ports.catalogs.replace(key.name, tools);
      if (diff !== undefined) {
        ports.publish({
          type: 'catalog.changed',
          connection: key.name,
          generation: key.generation,
          ...diff,
          toolCount: tools.length,
        });
      }
      return { hash: catalog.hash, tools: catalog.tools.length };
    },
  });
}
