/** The error of a call of an unknown tool: when and why it went, if there was one. */
import { hasTag } from '../../machines/connection/connection.states.js';
import { serverCommand } from '../lifecycle/server-command.js';
import { mayBeOf } from '../catalog/naming.js';
import { DEFAULT_NAMING, type NamingTemplate } from '../config/entry/server-config.js';
import type { CatalogTool } from '../catalog/registry.js';
import type { RemovedTool } from '../catalog/vanished.js';
import { nearestName } from '../text/option-names.js';
import { UnknownToolError } from '../errors.js';
import { stateInWords } from '../lifecycle/state-in-words.js';
import type { ServerStatus } from '../lifecycle/status.js';
import { changedFields } from '../catalog/tool-fingerprint.js';

export function unknownTool(
  name: string,
  statuses: readonly ServerStatus[],
  vanished?: RemovedTool,
  offered: readonly CatalogTool[] = [],
  naming: NamingTemplate = DEFAULT_NAMING,
): UnknownToolError {
  const leftOut = whyLeftOut(name, statuses);
  if (leftOut !== undefined) return leftOut;
  if (vanished !== undefined) return goneTool(name, vanished);
  const hints = `${didYouMean(name, offered)}${serversWithoutTools(statuses)}${unavailableServers(statuses)}`;
  const needsTrust = mayOwn(
    name,
    statuses.flatMap((status) => (hasTag(status, 'awaitingTrust') ? [status.server] : [])),
    naming,
  );
  return new UnknownToolError(name, `No server offers a tool called '${name}'.${hints}`, { needsTrust });
}

/** The error if a server lists a tool with that name (or `server/tool`), but its entry cannot be used. */
export function whyLeftOut(name: string, statuses: readonly ServerStatus[]): UnknownToolError | undefined {
  for (const { server, toolsLeftOut } of statuses) {
    const found = toolsLeftOut.find(
      (each) => each.name === name || (each.tool !== null && `${server}/${each.tool}` === name),
    );
    if (found === undefined) continue;
    const message = `'${server}' lists '${found.tool}', but it cannot be offered: ${found.why}.`;
    return new UnknownToolError(name, message, { server });
  }
  return undefined;
}

/** Suggests a tool: the given name is often the server's own name of it. */
function didYouMean(name: string, offered: readonly CatalogTool[]): string {
  const names = offered.map((tool) => tool.name);
  const meant = offered.find(({ tool }) => tool === name)?.name ?? nearestName(name, names);
  return meant === undefined ? '' : ` Did you mean '${meant}'?`;
}

/** Sentences about what servers list without a name that is known: the tool may be among it. */
export function serversWithoutTools(statuses: readonly ServerStatus[]): string {
  const unnamed = statuses.flatMap(({ server, toolsLeftOut }) =>
    toolsLeftOut.filter(({ tool }) => tool === null).map(({ why }) => ` '${server}': ${why}.`),
  );
  return [...new Set(unnamed)].join('');
}

/** A sentence that names servers that are not ready and may have it; empty if all are ready. */
export function unavailableServers(statuses: readonly ServerStatus[]): string {
  const away = statuses
    .filter(({ state }) => state !== 'ready')
    .map((status) => `${status.server} is ${stateInWords(status)}${howToTrust(status)}`);
  return away.length === 0 ? '' : ` Not every server is ready: ${away.join('; ')}.`;
}

/** The servers that can have a tool of that name; all of them, if the name belongs to none. */
function mayOwn(name: string, servers: readonly string[], naming: NamingTemplate): readonly string[] {
  const owners = servers.filter((server) => name.startsWith(`${server}/`) || mayBeOf(server, name, naming));
  return owners.length === 0 ? servers : owners;
}

/** Which tools such a server has is unknown until a person has trusted its entry. */
function howToTrust(status: ServerStatus): string {
  return hasTag(status, 'awaitingTrust') ? `, to trust it: ${serverCommand('trust', status.server)}` : '';
}

export function goneTool(name: string, { server, at, why }: RemovedTool): UnknownToolError {
  const message = `The tool '${name}' was removed at ${new Date(at).toISOString()}: ${why}.`;
  return new UnknownToolError(name, message, { server, removedAt: at });
}

/** The error if a tool is no longer the one that was inspected; undefined if it is. */
export function whyReplaced(expectedTool: CatalogTool, now: CatalogTool): UnknownToolError | undefined {
  const { name, server } = now;
  const isOfSameName = server === expectedTool.server && now.tool === expectedTool.tool;
  if (isOfSameName && changedFields(expectedTool, now).length === 0) return undefined;
  const message = `The tool '${name}' has changed since it was inspected, and was not called.`;
  return new UnknownToolError(name, message, { server });
}
