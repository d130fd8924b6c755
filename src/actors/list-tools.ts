/**
 * The whole list of tools, checked, kept, and told where it differs from the last one. Whoever is told that the
 * connection is ready finds its tools judged; the time which that takes is not the server's, whose ends with its answer.
 */
import { fromPromise } from 'xstate';
import type {
  BoundedSessionInput,
  ListToolsOutput,
  SessionKey,
  Settled,
  Unsettled,
} from '../../machines/connection.events.js';
import { listAll, type WholeList } from '../catalog/list-all.js';
import { checkTools, type ToolCheck } from '../catalog/tool-check.js';
import { runEffect, whyFailed, type EffectSpec } from './effect.js';
import { diagnose, lastWords, type EffectPorts } from './effect-ports.js';
import type { KnownPlaces } from './known-places.js';
import { requireClient } from './session-parts.js';
import { tellChange, tellProblems } from './tell-list.js';

/** A server that declares no tools is not asked for any (MCP specification, "Tools", capabilities). */
const NO_TOOLS: WholeList = { items: [], problem: undefined };

export function listTools(ports: EffectPorts, places: KnownPlaces) {
  const step = places.judging(ports.sessions, listing(ports));
  return fromPromise<Unsettled<ListToolsOutput> & Settled, BoundedSessionInput>(async ({ input, signal }) => {
    const listed = await runEffect(ports, step, input, signal);
    await ports.reviews?.judged(input.name);
    return { ...listed, at: ports.clock.now() };
  });
}

function listing(ports: EffectPorts): EffectSpec<Unsettled<ListToolsOutput>, BoundedSessionInput> {
  const reading = readingList(ports);
  return { ...reading, run: async (key, signal) => takeList(ports, key, await reading.run(key, signal)) };
}

/** The list as it can be used; it is nobody's yet. */
export function readingList(ports: EffectPorts): EffectSpec<ToolCheck, BoundedSessionInput> {
  return {
    phase: 'list',
    limitMs: (input) => input.limitMs,
    expired: (_, limitMs) => ({
      code: 'list-timeout',
      message: `The server did not list its tools within ${limitMs} ms.`,
    }),
    details: lastWords(ports),
    run: async (key, signal) => {
      const { items, problem } = await wholeList(ports, key, signal);
      signal.throwIfAborted();
      const { tools, problems } = checkTools(items);
      return { tools, problems: problem === undefined ? problems : [problem, ...problems] };
    },
  };
}

/** From here on these are the tools of the connection. */
export function takeList(
  ports: EffectPorts,
  key: SessionKey,
  { tools, problems }: ToolCheck,
): Unsettled<ListToolsOutput> {
  tellProblems(ports, key, problems);
  const session = ports.sessions.get(key);
  const { catalog, diff } = ports.catalogs.replace(key.name, tools, session?.reviewed);
  if (diff !== undefined) tellChange(ports, key, 'tools', diff);
  ports.cache?.keep(key.name, session?.cacheKey, catalog);
  return { hash: catalog.hash, tools: catalog.tools.length };
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
