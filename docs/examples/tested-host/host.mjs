/** A small host: a line for each server, the tools that a model may call, and a person who answers questions. */
import { createTroupe } from 'mcp-troupe';

/**
 * @typedef {{ line(server: string): string | undefined, tools(): string[], troupe: import('mcp-troupe').Troupe }} Host
 */

/**
 * @param {import('mcp-troupe').TroupeOptions} options
 * @param {(question: string) => string} ask Asks the person.
 * @returns {Host}
 */
export function openHost(options, ask = () => '') {
  const troupe = createTroupe({
    cache: false,
    ...options,
    handlers: {
      elicitation: { form: ({ message }) => ({ action: 'accept', content: { answer: ask(message) } }) },
    },
  });
  /** @type {Map<string, string>} */
  const lines = new Map();
  troupe.status$.subscribe((rows) => {
    for (const { server, state, error, toolCount } of rows) {
      const why = error === null ? '' : `: ${error.message}`;
      lines.set(
        server,
        state === 'ready' ? `${server} ready, ${toolCount} tools` : `${server} ${state}${why}`,
      );
    }
  });
  return {
    troupe,
    line: (server) => lines.get(server),
    tools: () => troupe.tools.map(({ name }) => name),
  };
}
