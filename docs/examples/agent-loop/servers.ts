/** Two MCP servers that are installed beside the examples, so that they run offline. */
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';

const program = (name: string): string =>
  fileURLToPath(import.meta.resolve(`@modelcontextprotocol/${name}/dist/index.js`));

export const everything = { command: 'node', args: [program('server-everything')] };
export const memory = {
  command: 'node',
  args: [program('server-memory')],
  env: { MEMORY_FILE_PATH: devNull },
};
