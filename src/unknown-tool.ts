/** What is said where no server offers a tool of that name: when it went and why, where there was one. */
import type { CatalogTool } from './catalog/registry.js';
import type { Vanished } from './catalog/vanished.js';
import { nearestName } from './config/near-miss.js';
import { UnknownToolError } from './errors.js';
import type { ServerStatus } from './lifecycle/status.js';
import { changedFields } from './review/fingerprint.js';

export function unknownTool(
  name: string,
  statuses: readonly ServerStatus[],
  vanished?: Vanished,
  offered: readonly CatalogTool[] = [],
): UnknownToolError {
  if (vanished !== undefined) return goneTool(name, vanished);
  const hints = `${didYouMean(name, offered)}${whoIsAway(statuses)}`;
  return new UnknownToolError(name, `No server offers a tool called '${name}'.${hints}`);
}

/** Often it is the name that the server itself has for the tool. */
function didYouMean(name: string, offered: readonly CatalogTool[]): string {
  const names = offered.map((tool) => tool.name);
  const meant = offered.find(({ tool }) => tool === name)?.name ?? nearestName(name, names);
  return meant === undefined ? '' : ` Did you mean '${meant}'?`;
}

/** Servers that may be the ones that have what was not found, as a further sentence; empty where all are ready. */
export function whoIsAway(statuses: readonly ServerStatus[]): string {
  const away = statuses
    .filter(({ state }) => state !== 'ready')
    .map(({ name, state }) => `${name} is ${state}`);
  return away.length === 0 ? '' : ` Not every server is ready: ${away.join(', ')}.`;
}

export function goneTool(name: string, { server, at, why }: Vanished): UnknownToolError {
  const message = `The tool '${name}' went at ${new Date(at).toISOString()}: ${why}.`;
  return new UnknownToolError(name, message, { server, goneAt: at });
}

/** Why a tool must not be called for the one that somebody looked at; undefined where it is still that one. */
export function whyReplaced(lookedAt: CatalogTool, now: CatalogTool): UnknownToolError | undefined {
  const { name, server } = now;
  const isOfSameName = server === lookedAt.server && now.tool === lookedAt.tool;
  if (isOfSameName && changedFields(lookedAt, now).length === 0) return undefined;
  const message = `The tool '${name}' has become another one since somebody looked at it, and was not called.`;
  return new UnknownToolError(name, message, { server });
}
