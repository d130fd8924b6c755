/** Entries from the host's code: its own, and those of its extensions. */
import type { ConfigProblem } from '../../errors.js';
import type { DiscoveryOptions } from './discover-options.js';
import type { ServerConfig } from '../entry/server-config.js';
import { type SourceEntries, sourceName, type Source } from './sources.js';
import { printable } from '../entry/problem.js';
import { isObject, kindOf } from '../entry/read-shape.js';
import { validateEntry } from '../entry/validate-entry.js';

/** The servers in an object with one entry per server. */
export function entriesOf(source: Source, servers: unknown, baseDir: string): SourceEntries {
  const found = { source, baseDir };
  const name = sourceName(source);
  if (!isObject(servers)) {
    const message = `expected an object with one entry per server, found ${kindOf(servers)}`;
    return {
      ...found,
      entries: new Map(),
      refused: [],
      problems: [{ code: 'wrong-type', source: name, message }],
    };
  }
  const entries = new Map<string, ServerConfig>();
  const refused: string[] = [];
  const problems: ConfigProblem[] = [];
  for (const [server, entry] of Object.entries(servers)) {
    const validated = validateEntry(server, entry, { source: name });
    for (const problem of validated.problems) problems.push(problem);
    if (validated.config === undefined) refused.push(printable(server));
    else entries.set(server, validated.config);
  }
  return { ...found, entries, refused, problems };
}

/** One source for each extension, in the order of the host. */
export function extensionEntries(
  extensions: NonNullable<DiscoveryOptions['extensions']>,
  baseDir: string,
): readonly SourceEntries[] {
  return Object.entries(extensions).map(([name, servers]) => {
    const display = `extension '${printable(name)}'`;
    return entriesOf({ id: display, scope: 'extension', kind: 'extension', display }, servers, baseDir);
  });
}
