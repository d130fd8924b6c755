/** Logs: one line each on stderr, with the time (ISO 8601, UTC), the level and the part of the server that speaks. */

/**
 * @typedef {Record<'info' | 'warn' | 'error', (context: string, message: string, details?: object) => void>} Log
 * @param {NodeJS.WritableStream} stream
 * @returns {Log}
 */
export function createLog(stream) {
  // A host may close its end; that ends no server.
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
      stream.write(`${new Date().toISOString()} ${level} [${context}] ${inOneLine(message)}${more}\n`);
    };
  return { info: at('INFO'), warn: at('WARN'), error: at('ERROR') };
}

/**
 * A message may quote what a client sent; no line of a log can be made that way.
 * @param {string} text
 */
function inOneLine(text) {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}
