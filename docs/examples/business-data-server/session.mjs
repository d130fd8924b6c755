/**
 * The methods of MCP that this server has, and what it remembers of its one client: the protocol version and the requests
 * that may still be cancelled. It declares tools and nothing else.
 */
import { DataError } from './data-error.mjs';
import { isObject } from './is-object.mjs';
import { internalError, invalidParams, invalidRequest, methodNotFound, RpcError } from './rpc-error.mjs';
import { callTool, listTools } from './tool-calls.mjs';

/** Newest first. */
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const VERSION_WITH_BATCHES = '2025-03-26';
const SERVER_INFO = { name: 'business-data-server', title: 'Business data', version: '1.0.0' };
const INSTRUCTIONS =
  'Records of a business by category. Describe a category first: it lists the fields that searches and analyses can name.';

/**
 * @param {import('./data-folder.mjs').DataFolder} folder
 * @param {import('./log.mjs').Log} log
 * @param {string} [name] of the server
 * @returns {import('./json-rpc.mjs').Session}
 */
export function createSession(folder, log, name = SERVER_INFO.name) {
  const serverInfo = { ...SERVER_INFO, name };
  /** @type {string | undefined} */
  let version;
  /** @type {Map<import('./json-rpc.mjs').Id, AbortController>} */
  const running = new Map();

  /** @param {import('./json-rpc.mjs').Request} request */
  function initialize({ params, inBatch }) {
    if (inBatch)
      throw invalidRequest('initialize is never part of a batch', 'initialize on a line of its own');
    if (version !== undefined)
      throw invalidRequest('initialize came before', 'initialize once, at the beginning');
    version = chosenVersion(params);
    const about = { client: params['clientInfo'], version };
    log.info('session', 'initialized', about);
    const capabilities = { tools: {} };
    return { protocolVersion: version, capabilities, serverInfo, instructions: INSTRUCTIONS };
  }

  /** @param {import('./json-rpc.mjs').Request} request */
  async function call({ id, params }) {
    const cancelled = new AbortController();
    running.set(id, cancelled);
    try {
      const result = await callTool(params, folder, log);
      return cancelled.signal.aborted ? undefined : result;
    } catch (error) {
      if (cancelled.signal.aborted) return undefined;
      throw error;
    } finally {
      running.delete(id);
    }
  }

  /** @type {[string, (request: import('./json-rpc.mjs').Request) => object | Promise<object | undefined>][]} */
  const all = [
    ['initialize', initialize],
    ['ping', () => ({})],
    ['tools/list', async () => ({ tools: await listTools(folder) })],
    ['tools/call', call],
  ];
  const methods = new Map(all);

  return {
    takesBatches: () => version === VERSION_WITH_BATCHES,
    async answer(request) {
      const method = methods.get(request.method);
      if (method === undefined) throw methodNotFound(request.method, [...methods.keys()]);
      try {
        return await method(request);
      } catch (error) {
        if (error instanceof RpcError) throw error;
        log.error('session', `${request.method}: ${String(error)}`);
        throw internalError({ method: request.method, cause: causeOf(error) });
      }
    },
    notice(method, params) {
      if (method !== 'notifications/cancelled') return;
      const { requestId } = params;
      if (typeof requestId === 'string' || typeof requestId === 'number') running.get(requestId)?.abort();
    },
  };
}

/** @param {unknown} error */
function causeOf(error) {
  return error instanceof DataError ? error.message : 'unexpected';
}

/** @param {Record<string, unknown>} params */
function chosenVersion(params) {
  const { protocolVersion } = params;
  if (typeof protocolVersion !== 'string')
    throw invalidParams('protocolVersion must be a string', { supported: VERSIONS });
  for (const name of ['capabilities', 'clientInfo'])
    if (params[name] !== undefined && !isObject(params[name]))
      throw invalidParams(`${name} must be an object`, {
        expected: 'protocolVersion, capabilities, clientInfo',
      });
  return VERSIONS.includes(protocolVersion) ? protocolVersion : VERSIONS[0];
}
