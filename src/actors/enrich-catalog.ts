/**
 * Reads the declared lists other than tools, and restores the hosts' preferences in a new session. Best effort: each
 * part has its own limit. If a part fails, a diagnostic says so and the previous list stays.
 */
import type {
  EnrichCatalogInput,
  EnrichCatalogOutput,
  Unsettled,
  BoundedSessionInput,
} from '../../machines/connection/connection.events.js';
import { checkExtras, type ExtraKind } from '../catalog/extra-check.js';
import { listAll, refusalAsProblem, type WholeList } from '../catalog/list-all.js';
import { effect, whyFailed } from './effect.js';
import { withinLimit } from '../async/timers.js';
import { diagnose, type EffectPorts, requireClient } from './effect-ports.js';
import { reportChange, reportProblems } from './report-list.js';

export function enrichCatalog(ports: EffectPorts) {
  return effect<Unsettled<EnrichCatalogOutput>, EnrichCatalogInput>(ports, {
    phase: 'list',
    run: async (key, signal) => {
      const part = async (what: string, work: (inner: AbortSignal) => Promise<void>): Promise<void> => {
        try {
          await withinLimit(ports.clock, signal, key.limitMs, work);
        } catch (error) {
          const why = whyFailed(error, signal);
          if (why !== undefined) diagnose(ports, key, 'catalog-problem', `${what} failed: ${why}`);
        }
      };
      const { session } = requireClient(ports, key);
      session.listReads.begin(key.lists);
      const list = (kind: ExtraKind, method: string): Promise<void> =>
        part(method, (inner) => readList(ports, key, kind, method, inner));
      const resources = key.lists.includes('resources')
        ? [list('resources', 'resources/list'), list('resourceTemplates', 'resources/templates/list')]
        : [];
      const prompts = key.lists.includes('prompts') ? [list('prompts', 'prompts/list')] : [];
      await Promise.all([restorePreferences(ports, key, signal), ...resources, ...prompts]);
      session.listReads.end(key.lists, ports.clock.now());
      ports.cache?.keep(key.name, session.plan.cacheKey);
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
): Promise<void> {
  const { session, client } = requireClient(ports, key);
  const isDeclared = session.capabilities[kind === 'prompts' ? 'prompts' : 'resources'] !== undefined;
  const request = {
    method,
    key: kind,
    limitMs: key.limitMs,
    limits: ports.servers.settings(key.name).limits,
  };
  const read = isDeclared ? await listAll(client, ports.clock, request, signal) : NOTHING;
  // Many servers with resources have no templates, and no method for them.
  const whole = kind === 'resourceTemplates' ? read : refusalAsProblem(request, read);
  signal.throwIfAborted();
  const { entries, problems } = checkExtras(kind, whole.items);
  reportProblems(ports, key, whole.problem === undefined ? problems : [whole.problem, ...problems]);
  const diff = ports.extras.replace(key.name, kind, entries);
  if (diff !== undefined) reportChange(ports, key, kind, diff);
}

// Sends a new session what hosts have requested from earlier sessions: the log level and the subscriptions.

/** Few enough for any server, and below the number of listeners on one signal at which Node.js warns (10). */
const AT_A_TIME = 8;

/**
 * Does nothing if the session knows everything. Never rejects: a request that the server refuses or does not answer in
 * time becomes a diagnostic, and stays wanted.
 */
export async function restorePreferences(
  ports: EffectPorts,
  key: BoundedSessionInput,
  signal: AbortSignal,
): Promise<void> {
  const failures: string[] = [];
  try {
    await withinLimit(ports.clock, signal, key.limitMs, (inner) => restoreAll(ports, key, inner, failures));
  } catch (error) {
    const why = whyFailed(error, signal);
    if (why === undefined) return;
    failures.push(`the rest was not answered (${why})`);
  }
  const [first] = failures;
  if (first === undefined) return;
  const others = failures.length > 1 ? `, and ${failures.length - 1} more` : '';
  diagnose(ports, key, 'not-restored', `Not restored in this session: ${first}${others}.`);
}

async function restoreAll(
  ports: EffectPorts,
  key: BoundedSessionInput,
  signal: AbortSignal,
  failures: string[],
): Promise<void> {
  const { session, client } = requireClient(ports, key);
  const { logging, resources } = session.capabilities;
  const { level, uris } = ports.wishes.takePending(session);
  const ask = async (method: string, params: Record<string, unknown>, what: string): Promise<void> => {
    try {
      await client.request(method, params, { signal });
    } catch (error) {
      if (!signal.aborted) failures.push(`${what} (${whyFailed(error, signal)})`);
    }
  };
  if (level !== undefined && logging !== undefined) {
    await ask('logging/setLevel', { level }, `the log level '${level}'`);
  }
  if (uris.length > 0 && resources?.subscribe !== true) {
    failures.push(`${uris.length} subscription(s) (the server no longer offers them)`);
    return;
  }
  for (let from = 0; from < uris.length && !signal.aborted; from += AT_A_TIME) {
    const batch = uris.slice(from, from + AT_A_TIME);
    const wished = batch.filter((uri) => ports.wishes.isSubscribed(key.name, uri));
    await Promise.all(wished.map((uri) => ask('resources/subscribe', { uri }, `the subscription to ${uri}`)));
  }
}
