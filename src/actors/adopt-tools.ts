/**
 * Replaces the tools of a connection with the list that its session has read, and publishes the difference. Waits for
 * the review, so that the connection becomes ready only after it.
 */
import type { AdoptToolsOutput, SessionKey, Unsettled } from '../../machines/connection/connection.events.js';
import { cutText } from '../text/cut-text.js';
import type { Session } from '../sessions/sessions.js';
import type { EffectPorts } from './effect-ports.js';
import { effect } from './effect.js';
import { requireTransport } from './session-parts.js';
import { reportChange, reportProblems } from './report-list.js';

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
  ports.cache?.keep(key.name, cacheKey);
}
