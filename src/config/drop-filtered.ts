/** Entries that were discovered and that the host does not want to be started. */
import type { DiscoverChoice, FoundEntry, FoundSource } from '../options.js';
import { messageOf } from '../thrown.js';
import type { SourceEntries } from './merge.js';
import { printable } from './problem.js';
import { sourceName, type Source } from './sources.js';

/** An entry the host's filter left out, with the values as they are written: secrets among them are not masked. */
export interface DroppedEntry extends FoundEntry {
  readonly source: FoundSource;
}

export interface Sifted {
  readonly kept: readonly SourceEntries[];
  readonly dropped: readonly DroppedEntry[];
}

/** A dropped entry claims no name. One for which the filter throws is dropped, and the error is a problem. */
export function dropFiltered(
  found: readonly SourceEntries[],
  filter: DiscoverChoice['filter'] = () => true,
): Sifted {
  const dropped: DroppedEntry[] = [];
  const kept = found.map((from) => {
    const source = toFoundSource(from.source);
    const entries = new Map(from.entries);
    const problems = [...from.problems];
    for (const [name, config] of from.entries) {
      try {
        if (decided(filter({ name, config }, source))) continue;
      } catch (error) {
        const reason = messageOf(error);
        const message = `is left out, since the filter of 'discover' threw: ${printable(reason)}`;
        problems.push({ source: sourceName(from.source), server: printable(name), message });
      }
      entries.delete(name);
      dropped.push({ name, config, source });
    }
    return { ...from, entries, problems };
  });
  return { kept, dropped };
}

/** A promise would count as a yes. */
function decided(answer: unknown): boolean {
  if (!(answer instanceof Promise)) return Boolean(answer);
  answer.catch(() => {});
  throw new TypeError('it gave a promise, and has to decide at once');
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
