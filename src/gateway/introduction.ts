/** What the gateway says of itself in the first answer to a client. */
import type { ServerView } from './server-view.js';

/** Of all servers together nobody knows beforehand: what none of them offers is an empty list. */
export const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

/** What servers say to a model of how they are used; of the only one, its very words. */
export function instructionsOf(view: ServerView): string {
  const { servers } = view;
  const said = servers.flatMap((server): [string, string][] => {
    const text = view.instructions(server);
    return text === null || text === '' ? [] : [[server, text]];
  });
  const [first] = said;
  if (first !== undefined && servers.length === 1) return first[1];
  return said.map(([server, text]) => `# ${server}\n\n${text}`).join('\n\n');
}
