/** What is said where no server offers a tool of that name. */
import { UnknownToolError } from './errors.js';
import type { ServerStatus } from './lifecycle/status.js';

export function unknownTool(name: string, statuses: readonly ServerStatus[]): UnknownToolError {
  const away = statuses
    .filter(({ state }) => state !== 'ready')
    .map(({ name: server, state }) => `${server} is ${state}`);
  const why = away.length === 0 ? '' : ` Not every server is ready: ${away.join(', ')}.`;
  return new UnknownToolError(name, `No server offers a tool called '${name}'.${why}`);
}
