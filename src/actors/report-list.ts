/** Publishes what was wrong with a list that was read, and how it differs from the list before. */
import type { SessionKey } from '../../machines/connection/connection.events.js';
import type { CatalogDiff } from '../catalog/list-diff.js';
import { cutText } from '../text/visible-text.js';
import { CATALOG_LISTS, type CatalogList } from '../lifecycle/event.js';
import { diagnose, type EffectPorts } from './effect-ports.js';

/** A list may have a problem in each entry; a few are enough for a person. */
const MAX_REPORTED = 10;

export function reportProblems(ports: EffectPorts, key: SessionKey, problems: readonly string[]): void {
  for (const problem of problems.slice(0, MAX_REPORTED)) {
    diagnose(ports, key, 'catalog-problem', problem);
  }
  const unreported = problems.length - MAX_REPORTED;
  if (unreported > 0) diagnose(ports, key, 'catalog-problem', `${unreported} more problems of this kind.`);
}

export function reportChange(
  ports: EffectPorts,
  key: SessionKey,
  list: CatalogList,
  { added, removed, changed }: CatalogDiff,
): void {
  const mask = ports.servers.mask(key.name);
  const shown = (id: string): string => cutText(mask(id));
  ports.publish({
    type: 'catalog.changed',
    server: key.name,
    generation: key.generation,
    ...(list === 'tools' ? {} : { list }),
    added: added.map(shown),
    removed: removed.map(shown),
    changed: changed.map(shown),
    toolCount: ports.catalogs.get(key.name)?.tools.length ?? 0,
  });
}

/** Forgets everything that a server has listed, and publishes that it is gone. */
export function forgetLists(ports: EffectPorts, key: SessionKey): void {
  const tools = ports.catalogs.get(key.name)?.tools.map(({ name }) => name) ?? [];
  ports.catalogs.delete(key.name);
  const gone: Readonly<Record<CatalogList, readonly string[]>> = { tools, ...ports.extras.delete(key.name) };
  for (const list of CATALOG_LISTS) {
    const removed = [...gone[list]];
    if (removed.length > 0) reportChange(ports, key, list, { added: [], removed, changed: [] });
  }
}
