/** The two steps from the list of tools of a server to its catalog: reading it, and adopting what was read. */
import type {
  BoundedSessionInput,
  AdoptToolsOutput,
  SessionKey,
  Unsettled,
} from '../../machines/connection/connection.events.js';
import { listAll, refusalAsProblem, type WholeList } from '../catalog/list-all.js';
import { checkTools, unlisted } from '../catalog/tool-check.js';
import {
  attemptDetails,
  diagnose,
  type EffectPorts,
  requireClient,
  requireTransport,
} from './effect-ports.js';
import { effect, whyFailed, type Nothing } from './effect.js';
import { cutText } from '../text/visible-text.js';
import type { Session } from '../sessions/sessions.js';
import { reportChange, reportProblems } from './report-list.js';

// Reads the whole list of tools and checks it. The list stays with its session until it is adopted.

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

// Replaces the tools of a connection with the list that its session has read, and publishes the difference. Waits for
// the review, so that the connection becomes ready only after it.

export function adoptTools(ports: EffectPorts) {
  return effect<Unsettled<AdoptToolsOutput>, SessionKey>(ports, {
    phase: 'list',
    run: async (key) => {
      const { session } = requireTransport(ports, key);
      commit(ports, key, session);
      await ports.reviews?.judged(key.name);
      const catalog = ports.catalogs.get(key.name);
      return { hash: catalog?.hash ?? '', tools: catalog?.tools.length ?? 0 };
    },
  });
}

function commit(ports: EffectPorts, key: SessionKey, session: Session): void {
  if (session.listed === undefined) return;
  const { tools, problems, leftOut } = session.listed;
  const { cacheKey, reviewed } = session.plan;
  session.listed = undefined;
  reportProblems(ports, key, problems);
  const mask = ports.servers.mask(key.name);
  ports.catalogs.leaveOut(
    key.name,
    leftOut.map(({ tool, why }) => ({
      tool: tool === null ? null : cutText(mask(tool), 200),
      why: cutText(mask(why)),
    })),
  );
  const { diff } = ports.catalogs.replace(key.name, tools, reviewed);
  if (diff !== undefined) reportChange(ports, key, 'tools', diff);
  ports.cache?.keep(key.name, cacheKey, ports.eras.get(session.place));
}
