/**
 * JSON-RPC 2.0 over lines: what is read is checked, given to the session, and answered. Knows nothing of MCP but that a
 * session may refuse batches.
 *
 * 1. A request gets exactly one answer, unless its session drops it; a notification and an answer get none.
 * 2. Whatever a handler throws, the loop goes on.
 * 3. `serveLines` resolves when all that was read is answered and written.
 */
import { isObject } from './is-object.mjs';
import { linesOf } from './lines.mjs';
import { internalError, invalidParams, invalidRequest, parseError, RpcError } from './rpc-error.mjs';

/** While so many are being worked on, no further line is read. */
const IN_FLIGHT_LIMIT = 64;
const BATCH_LIMIT = 100;
const REQUEST =
  'an object with jsonrpc "2.0", a method and, for a request, an id that is a string or an integer';

/**
 * @typedef {string | number} Id
 * @typedef {{ id: Id, method: string, params: Record<string, unknown>, inBatch: boolean }} Request
 * @typedef {{ takesBatches(): boolean, answer(request: Request): Promise<object | undefined>,
 *   notice(method: string, params: Record<string, unknown>): void }} Session `answer` gives undefined where none is due.
 * @typedef {{ input: import('node:stream').Readable, output: import('node:stream').Writable, session: Session,
 *   log: import('./log.mjs').Log, signal: AbortSignal }} Line
 */

/**
 * Until the input ends or the signal is aborted.
 * @param {Line} line
 */
export async function serveLines({ input, output, session, log, signal }) {
  const inFlight = new Set();
  const end = () => input.destroy();
  signal.addEventListener('abort', end);
  try {
    for await (const line of linesOf(input)) {
      const work = answerLine(line, session, log).then((answer) => write(output, answer));
      inFlight.add(work);
      void work.finally(() => inFlight.delete(work));
      if (inFlight.size >= IN_FLIGHT_LIMIT) await Promise.race(inFlight);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', end);
  }
  await Promise.all(inFlight);
}

/**
 * Resolves when it is written, or cannot be.
 * @param {import('node:stream').Writable} output
 * @param {unknown} answer
 * @returns {Promise<void>}
 */
function write(output, answer) {
  if (answer === undefined) return Promise.resolve();
  return new Promise((resolve) => void output.write(`${JSON.stringify(answer)}\n`, () => resolve()));
}

/**
 * @param {string | RpcError} line
 * @param {Session} session
 * @param {import('./log.mjs').Log} log
 */
async function answerLine(line, session, log) {
  if (line instanceof RpcError) return refusal(null, line, log);
  let message;
  try {
    message = /** @type {unknown} */ (JSON.parse(line));
  } catch {
    return refusal(null, parseError('the line is not JSON'), log);
  }
  return Array.isArray(message)
    ? answerBatch(message, session, log)
    : answerOne(message, session, log, false);
}

/**
 * @param {readonly unknown[]} batch
 * @param {Session} session
 * @param {import('./log.mjs').Log} log
 */
async function answerBatch(batch, session, log) {
  if (!session.takesBatches()) {
    const reason = 'this protocol version has no batches';
    return refusal(null, invalidRequest(reason, 'one message on each line'), log);
  }
  if (batch.length === 0 || batch.length > BATCH_LIMIT)
    return refusal(null, invalidRequest(`a batch of ${batch.length}`, `1 to ${BATCH_LIMIT} messages`), log);
  const answers = await Promise.all(batch.map((message) => answerOne(message, session, log, true)));
  const due = answers.filter((answer) => answer !== undefined);
  return due.length === 0 ? undefined : due;
}

/**
 * @param {unknown} message
 * @param {Session} session
 * @param {import('./log.mjs').Log} log
 * @param {boolean} inBatch
 */
async function answerOne(message, session, log, inBatch) {
  const id = idOf(message);
  try {
    if (!isObject(message) || message['jsonrpc'] !== '2.0')
      throw invalidRequest('this is no message of JSON-RPC 2.0', REQUEST);
    if (id === null) throw invalidRequest('the id is neither a string nor an integer', REQUEST);
    const { method, params = {} } = message;
    if (method === undefined && ('result' in message || 'error' in message)) return undefined;
    if (typeof method !== 'string') throw invalidRequest('the method is not a string', REQUEST);
    if (method === '') throw invalidRequest('the method is empty', REQUEST);
    if (id === undefined) {
      if (isObject(params)) session.notice(method, params);
      return undefined;
    }
    if (Array.isArray(params)) throw invalidParams('an array', { method, expected: 'an object' });
    if (!isObject(params))
      throw invalidRequest('the params are no object', 'params that are an object, or none');
    const startedAt = performance.now();
    log.debug('json-rpc', `request ${method}`, { id });
    const result = await session.answer({ id, method, params, inBatch });
    log.debug('json-rpc', `answer to ${method}`, { id, ms: Math.round(performance.now() - startedAt) });
    return result === undefined ? undefined : { jsonrpc: '2.0', id, result };
  } catch (error) {
    return refusal(id ?? null, error, log);
  }
}

/**
 * @param {Id | null} id
 * @param {unknown} thrown
 * @param {import('./log.mjs').Log} log
 */
function refusal(id, thrown, log) {
  if (!(thrown instanceof RpcError)) log.error('json-rpc', String(thrown));
  const { code, message, data } =
    thrown instanceof RpcError ? thrown : internalError({ cause: 'unexpected' });
  log.warn('json-rpc', `${code} ${message}`, { id });
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

/**
 * @param {unknown} message
 * @returns {Id | null | undefined} null if the id is invalid; undefined if there is none
 */
function idOf(message) {
  if (!isObject(message) || !Object.hasOwn(message, 'id')) return undefined;
  const { id } = message;
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id)) ? id : null;
}
