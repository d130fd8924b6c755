/** The words that the server is started with. */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';

export const USAGE = `Usage: node server.mjs [--stdio] [--data DIR] [--name NAME] [--debug]

Serves the records of a business as an MCP server: one JSON message a line on stdin and stdout, logs on stderr.

  --stdio     speak on stdin and stdout, which is the only way there is and so the default
  --data DIR  folder of the categories, one JSON file each (default: the data folder next to this program)
  --name NAME name of the server in the answer to initialize (default: business-data-server)
  --debug     also log every request, like the variable DEBUG
  --help      print this
`;

/**
 * @typedef {{ kind: 'help' } | { kind: 'mistake', message: string } | { kind: 'serve', folder: string, name: string | undefined, isDebugging: boolean }} Wish
 * @param {readonly string[]} words
 * @returns {Wish}
 */
export function readWords(words) {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: {
        stdio: { type: 'boolean' },
        data: { type: 'string' },
        name: { type: 'string' },
        debug: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help === true) return { kind: 'help' };
    return {
      kind: 'serve',
      folder: values.data ?? fileURLToPath(new URL('data', import.meta.url)),
      name: values.name,
      isDebugging: values.debug === true || Boolean(process.env['DEBUG']),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: 'mistake', message: `${reason} See --help.` };
  }
}
