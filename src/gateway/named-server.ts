/** Whose a tool would be by its name alone, where nobody lists it. Pure. */
import type { NamingTemplate } from '../options.js';

const TOOL = '{tool}';

/** The only one of the servers whose tools have names like that; without a template, the only server there is. */
export function serverNamedBy(
  name: string,
  servers: readonly string[],
  naming: NamingTemplate | undefined,
): string | undefined {
  const fitting = servers.filter((server) => naming === undefined || fits(name, server, naming));
  // The name of one server may begin with that of another.
  const [longest, ...others] = fitting.toSorted((a, b) => b.length - a.length);
  return others.some((other) => other.length === longest?.length) ? undefined : longest;
}

function fits(name: string, server: string, naming: NamingTemplate): boolean {
  if (!naming.includes('{server}')) return true;
  const filled = naming.replace('{server}', () => server);
  const [before = '', after = ''] = filled.split(TOOL).map(cleaned);
  return name.length > before.length + after.length && name.startsWith(before) && name.endsWith(after);
}

/** As names of tools are. */
function cleaned(text: string): string {
  return text.replace(/[^a-zA-Z0-9_-]/gu, '_');
}
