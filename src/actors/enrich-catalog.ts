/** Counts what a server has beside tools, where it declares it. Best effort: what fails is a diagnostic. */
import type {
  BoundedSessionInput,
  EnrichCatalogOutput,
  Unsettled,
} from '../../machines/connection.events.js';
import { listAll } from '../catalog/list-all.js';
import { effect, whyFailed } from './effect.js';
import { diagnose, type EffectPorts } from './effect-ports.js';
import { requireClient } from './session-parts.js';

export function enrichCatalog(ports: EffectPorts) {
  return effect<Unsettled<EnrichCatalogOutput>, BoundedSessionInput>(ports, {
    phase: 'list',
    limitMs: (input) => input.limitMs,
    run: async (key, signal) => {
      const { session, client } = requireClient(ports, key);
      const count = async (declared: boolean, method: string, list: string): Promise<number> => {
        if (!declared) return 0;
        try {
          return (await listAll(client, method, list, signal)).items.length;
        } catch (error) {
          const why = whyFailed(error, signal);
          if (why !== undefined) diagnose(ports, key, 'catalog-problem', `${method} failed: ${why}`);
          return 0;
        }
      };
      const { resources, prompts } = session.capabilities;
      const [resourceCount, templateCount, promptCount] = await Promise.all([
        count(resources !== undefined, 'resources/list', 'resources'),
        count(resources !== undefined, 'resources/templates/list', 'resourceTemplates'),
        count(prompts !== undefined, 'prompts/list', 'prompts'),
      ]);
      return { resources: resourceCount, resourceTemplates: templateCount, prompts: promptCount };
    },
  });
}
