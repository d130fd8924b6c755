/** Drops discovered entries that the host's filter rejects. */
import type { DiscoveryOptions, FoundSource, FoundEntry } from './discover-options.js';
import { messageOf } from '../../text/error-message.js';
import { type SourceEntries, sourceName, type Source } from './sources.js';
import { printable } from '../entry/problem.js';

/** An entry that the host's filter rejected, with its values as written: secrets are not masked. */
export interface DroppedEntry extends FoundEntry {
  /** The source that holds the entry. */
  readonly source: FoundSource;
}

export interface FilteredEntries {
  readonly kept: readonly SourceEntries[];
  readonly dropped: readonly DroppedEntry[];
}

/** A dropped entry claims no name. If the filter throws, the entry is dropped, and the error becomes a problem. */
export function dropFiltered(
  found: readonly SourceEntries[],
  filter: DiscoveryOptions['filter'] = () => true,
): FilteredEntries {
  const dropped: DroppedEntry[] = [];
  const kept = found.map((from) => {
    const source = toFoundSource(from.source);
    const entries = new Map(from.entries);
    const problems = [...from.problems];
    for (const [server, config] of from.entries) {
      try {
        if (decided(filter({ server, config }, source))) continue;
      } catch (error) {
        const reason = messageOf(error);
        const message = `is left out because the filter of 'discover' threw: ${printable(reason)}`;
        const place = { source: sourceName(from.source), server: printable(server) };
        problems.push({ code: 'filter-failed', ...place, message });
      }
      entries.delete(server);
      dropped.push({ server, config, source });
    }
    return { ...from, entries, problems };
  });
  return { kept, dropped };
}

/** A promise would count as true. */
function decided(answer: unknown): boolean {
  if (!(answer instanceof Promise)) return Boolean(answer);
  answer.catch(() => {});
  throw new TypeError('it returned a promise, but must decide at once');
}

function toFoundSource(source: Source): FoundSource {
  const { scope, kind = '', path } = source;
  return {
    kind,
    name: sourceName(source),
    scope: scope === 'project' || scope === 'user' ? scope : 'extension',
    ...(path !== undefined && { path }),
  };
}
