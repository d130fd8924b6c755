/**
 * Reads the declared lists other than tools, and restores the hosts' preferences in a new session. Best effort: each
 * part has its own limit. If a part fails, a diagnostic says so and the previous list stays.
 */
import type {
  EnrichCatalogInput,
  EnrichCatalogOutput,
  Unsettled,
} from '../../machines/connection/connection.events.js';
import { checkExtras, type ExtraKind } from '../catalog/extra-check.js';
import { listAll, refusalAsProblem, type WholeList } from '../catalog/list-all.js';
import { effect, whyFailed } from './effect.js';
import { withinLimit } from '../async/timers.js';
import { diagnose, type EffectPorts, requireClient } from './effect-ports.js';
import { reportChange, reportProblems } from './report-list.js';
import { restorePreferences } from './restore-preferences.js';

export function enrichCatalog(ports: EffectPorts) {
  return effect<Unsettled<EnrichCatalogOutput>, EnrichCatalogInput>(ports, {
    phase: 'list',
    run: async (key, signal) => {
      const { session } = requireClient(ports, key);
      session.listReads.begin(key.lists);
      const list = async (kind: ExtraKind, method: string): Promise<number | undefined> => {
        try {
          return (await readList(ports, key, kind, method, signal)).ttlMs;
        } catch (error) {
          const why = whyFailed(error, signal);
          if (why !== undefined) diagnose(ports, key, 'catalog-problem', `${method} failed: ${why}`);
          return undefined;
        }
      };
      const resources = key.lists.includes('resources')
        ? [list('resources', 'resources/list'), list('resourceTemplates', 'resources/templates/list')]
        : [];
      const prompts = key.lists.includes('prompts') ? [list('prompts', 'prompts/list')] : [];
      const reads = Promise.all([...resources, ...prompts]);
      const [held] = await Promise.all([reads, restorePreferences(ports, key, signal)]);
      session.listReads.end(key.lists, ports.clock.now(), Math.min(...held.map((ttlMs = Infinity) => ttlMs)));
      ports.cache?.keep(key.name, session.plan.cacheKey, ports.eras.get(session.place));
      return ports.extras.counts(key.name);
    },
  });
}

const NOTHING: WholeList = { items: [], problem: undefined };

/** A server that does not declare a list has an empty one (MCP specification, "Capabilities"). */
async function readList(
  ports: EffectPorts,
  key: EnrichCatalogInput,
  kind: ExtraKind,
  method: string,
  signal: AbortSignal,
): Promise<WholeList> {
  const { session, client } = requireClient(ports, key);
  const isDeclared = session.capabilities[kind === 'prompts' ? 'prompts' : 'resources'] !== undefined;
  const request = {
    method,
    key: kind,
    limitMs: key.limitMs,
    limits: ports.servers.settings(key.name).limits,
  };
  const readAll = (inner: AbortSignal): Promise<WholeList> => listAll(client, ports.clock, request, inner);
  const read = isDeclared ? await withinLimit(ports.clock, signal, key.limitMs, readAll) : NOTHING;
  // Many servers with resources have no templates, and no method for them.
  const whole = kind === 'resourceTemplates' ? read : refusalAsProblem(request, read);
  signal.throwIfAborted();
  const { entries, problems } = checkExtras(kind, whole.items);
  reportProblems(ports, key, whole.problem === undefined ? problems : [whole.problem, ...problems]);
  const diff = ports.extras.replace(key.name, kind, entries);
  if (diff !== undefined) reportChange(ports, key, kind, diff);
  return whole;
}
