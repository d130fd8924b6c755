/** What is told of a list that was read: what was wrong with it, and where it is another one than before. */
import type { SessionKey } from '../../machines/connection.events.js';
import type { CatalogDiff } from '../catalog/list-diff.js';
import { cutText } from '../cut-text.js';
import { CATALOG_LISTS, type CatalogList } from '../lifecycle/event.js';
import { diagnose, type EffectPorts } from './effect-ports.js';

/** A list can be wrong in as many places as it has entries; a person needs a few of them. */
const MOST_PROBLEMS_TOLD = 10;

export function tellProblems(ports: EffectPorts, key: SessionKey, problems: readonly string[]): void {
  for (const problem of problems.slice(0, MOST_PROBLEMS_TOLD)) {
    diagnose(ports, key, 'catalog-problem', problem);
  }
  const untold = problems.length - MOST_PROBLEMS_TOLD;
  if (untold > 0) diagnose(ports, key, 'catalog-problem', `${untold} more problems of this kind.`);
}

export function tellChange(
  ports: EffectPorts,
  key: SessionKey,
  list: CatalogList,
  { added, removed, changed }: CatalogDiff,
): void {
  const mask = ports.servers.mask(key.name);
  const told = (id: string): string => cutText(mask(id));
  ports.publish({
    type: 'catalog.changed',
    connection: key.name,
    generation: key.generation,
    ...(list === 'tools' ? {} : { list }),
    added: added.map(told),
    removed: removed.map(told),
    changed: changed.map(told),
    toolCount: ports.catalogs.get(key.name)?.tools.length ?? 0,
  });
}

/** Forgets whatever a server has listed, and tells that it went. */
export function forgetLists(ports: EffectPorts, key: SessionKey): void {
  const tools = ports.catalogs.get(key.name)?.tools.map(({ name }) => name) ?? [];
  ports.catalogs.delete(key.name);
  const gone: Readonly<Record<CatalogList, readonly string[]>> = { tools, ...ports.extras.delete(key.name) };
  for (const list of CATALOG_LISTS) {
    const removed = [...gone[list]];
    if (removed.length > 0) tellChange(ports, key, list, { added: [], removed, changed: [] });
  }
}
