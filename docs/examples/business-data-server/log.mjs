/**
 * Logs: one line each on stderr, `TIME [MCP-SERVER] LEVEL [PART] MESSAGE DETAILS`. The time is ISO 8601 in UTC, the details
 * are JSON.
 */

/**
 * @typedef {'debug' | 'info' | 'warn' | 'error'} Level
 * @typedef {Record<Level, (context: string, message: string, details?: object) => void>} Log
 * @param {NodeJS.WritableStream} stream
 * @param {{ isDebugging?: boolean }} [options] Default: no debug lines.
 * @returns {Log}
 */
export function createLog(stream, { isDebugging = false } = {}) {
  // A host may close its end; that does not end the server.
  stream.on('error', () => {});
  /** @param {string} level */
  const at =
    (level) =>
    (
      /** @type {string} */ context,
      /** @type {string} */ message,
      /** @type {object | undefined} */ details,
    ) => {
      const more = details === undefined ? '' : ` ${JSON.stringify(details)}`;
      const time = new Date().toISOString();
      stream.write(`${time} [MCP-SERVER] ${level} [${context}] ${inOneLine(message)}${more}\n`);
    };
  const debug = isDebugging ? at('DEBUG') : () => {};
  return { debug, info: at('INFO'), warn: at('WARN'), error: at('ERROR') };
}

/**
 * A message may quote what a client sent, which must not forge a line of the log.
 * @param {string} text
 */
function inOneLine(text) {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}
