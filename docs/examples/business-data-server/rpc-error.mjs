/**
 * The errors as the client gets them. `data` says what would be right; it never has a path, a stack or a value of the
 * server's environment. Codes: JSON-RPC 2.0, section 5.1; -32000 is the server's own: a tool could not do its work.
 */
export class RpcError extends Error {
  /**
   * @param {number} code
   * @param {string} message
   * @param {object} [data]
   */
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** @param {string} reason */
export const parseError = (reason) =>
  new RpcError(-32700, `Parse error: ${reason}`, { expected: 'one JSON message in UTF-8 on each line' });

/**
 * @param {string} reason
 * @param {string} expected
 */
export const invalidRequest = (reason, expected) =>
  new RpcError(-32600, `Invalid request: ${reason}`, { expected });

/**
 * @param {string} method
 * @param {readonly string[]} available
 */
export const methodNotFound = (method, available) =>
  new RpcError(-32601, `Method not found: ${method}`, { method, available });

/**
 * @param {string} reason
 * @param {object} data
 */
export const invalidParams = (reason, data) => new RpcError(-32602, `Invalid params: ${reason}`, data);

/** @param {object} data */
export const internalError = (data) => new RpcError(-32603, 'Internal error', data);

/**
 * @param {string} tool
 * @param {string} originalError
 */
export const toolFailed = (tool, originalError) =>
  new RpcError(-32000, `Tool execution error: ${originalError}`, { tool, originalError });
