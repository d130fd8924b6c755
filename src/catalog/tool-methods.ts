/**
 * The names of servers and tools as names of fields and methods: the exact name, or the same in camel case, such as
 * `readGraph` for `read_graph`.
 *
 * M1. An exact name comes before a name in camel case. Two names with the same camel case have none.
 * M2. `then` and `toJSON` are no methods: `await` and `JSON.stringify` would call them.
 */
import { UnknownToolError } from '../errors.js';
import { nearestName } from '../text/option-names.js';
import type { CatalogTool } from './registry.js';

const NO_METHODS: ReadonlySet<string> = new Set(['then', 'toJSON']);
/** The type `CamelCase` has the same. */
const SEPARATOR = /[-_./ :]/;

export function camelCase(name: string): string {
  const [first = '', ...rest] = name.split(SEPARATOR);
  return first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

export function isMethodName(name: string): boolean {
  return !NO_METHODS.has(name);
}

/** The names in camel case by which one of these names is meant; undefined for a name that needs to be exact. */
export function camelNames(names: readonly string[]): ReadonlyMap<string, string | undefined> {
  const claims = new Map<string, number>();
  for (const name of new Set(names.flatMap((each) => [`${each}\0${each}`, `${camelCase(each)}\0${each}`]))) {
    const [alias = ''] = name.split('\0');
    claims.set(alias, (claims.get(alias) ?? 0) + 1);
  }
  return new Map(
    names.map((name) => [name, claims.get(camelCase(name)) === 1 ? camelCase(name) : undefined]),
  );
}

/** The names that are meant: one, or several with the same camel case, or none. */
function namesMeant(written: string, names: readonly string[]): readonly string[] {
  return names.includes(written) ? [written] : names.filter((name) => camelCase(name) === written);
}

/** The known name, exact or in camel case, that is nearest to a misspelt one. */
function nearestMethod(written: string, names: readonly string[]): string | undefined {
  return nearestName(written, [...names.map(camelCase), ...names]);
}

/** The server of that name, exact or in camel case. Throws an `UnknownToolError`. */
export function serverMeant(written: string, method: string, servers: readonly string[]): string {
  return (
    theOne(`${written}.${method}`, 'server', written, servers) ?? unknownServer(written, method, servers)
  );
}

/** The tool that a method stands for; undefined if the server lists none. Throws an `UnknownToolError` if there are several. */
export function toolMeant(
  server: string,
  method: string,
  tools: readonly CatalogTool[],
): CatalogTool | undefined {
  const own = tools.filter((tool) => tool.server === server);
  const name = theOne(
    `${server}.${method}`,
    'tool',
    method,
    own.map(({ tool }) => tool),
  );
  return own.find(({ tool }) => tool === name);
}

function theOne(call: string, kind: string, written: string, names: readonly string[]): string | undefined {
  const [first, second] = namesMeant(written, names);
  if (second === undefined) return first;
  const message = `'${written}' may mean the ${kind} '${first}' or '${second}': write the exact name.`;
  throw new UnknownToolError(call, message);
}

function unknownServer(written: string, method: string, servers: readonly string[]): never {
  const why = `No server is called '${written}'.${didYouMean(written, servers)}`;
  throw new UnknownToolError(`${written}.${method}`, why);
}

/** The error if a server has no such tool. */
export function unknownMethod(
  server: string,
  method: string,
  tools: readonly CatalogTool[],
): UnknownToolError {
  const names = tools.flatMap((tool) => (tool.server === server ? [tool.tool] : []));
  const why = `'${server}' has no tool called '${method}'.${didYouMean(method, names)}`;
  return new UnknownToolError(`${server}.${method}`, why, { server });
}

function didYouMean(written: string, names: readonly string[]): string {
  const meant = nearestMethod(written, names);
  return meant === undefined ? '' : ` Did you mean '${meant}'?`;
}
