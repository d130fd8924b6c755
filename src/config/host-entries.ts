/** Entries that come from the host's code: its own, and those of its extensions. */
import type { ConfigProblem } from '../errors.js';
import type { DiscoverChoice, ServerConfig } from '../options.js';
import type { SourceEntries } from './merge.js';
import { printable } from './problem.js';
import { isObject, kindOf } from './read-shape.js';
import { sourceName, type Source } from './sources.js';
import { validateEntry } from './validate-entry.js';

/** What an object with one entry per server names. */
export function entriesOf(source: Source, servers: unknown, baseDir: string): SourceEntries {
  const found = { source, baseDir };
  const name = sourceName(source);
  if (!isObject(servers)) {
    const message = `expected an object with one entry per server, found ${kindOf(servers)}`;
    return { ...found, entries: new Map(), refused: [], problems: [{ source: name, message }] };
  }
  const entries = new Map<string, ServerConfig>();
  const refused: string[] = [];
  const problems: ConfigProblem[] = [];
  for (const [server, entry] of Object.entries(servers)) {
    const validated = validateEntry(server, entry, { source: name });
    problems.push(...validated.problems);
    if (validated.config === undefined) refused.push(printable(server));
    else entries.set(server, validated.config);
  }
  return { ...found, entries, refused, problems };
}

/** One source for each extension, in the order of the host. */
export function extensionEntries(
  extensions: NonNullable<DiscoverChoice['extensions']>,
  baseDir: string,
): readonly SourceEntries[] {
  return Object.entries(extensions).map(([name, servers]) => {
    const display = `extension '${printable(name)}'`;
    return entriesOf({ id: display, scope: 'extension', kind: 'extension', display }, servers, baseDir);
  });
}
