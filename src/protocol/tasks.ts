/**
 * Calls that a server runs as tasks (extension `io.modelcontextprotocol/tasks` of MCP 2026-07-28): it answers with the id of a
 * task at once, and is asked for its state until the task is over.
 *
 * J1. The task is asked for as often as the server wants, but between every 100 ms and every minute.
 * J2. Each question is asked once, and its answer is sent until the server has taken it.
 * J3. A task that is given up here is cancelled at the server. One whose connection broke is not: it can be followed over
 *     the next one, because its id outlives both.
 * J4. Only its end says what became of the call. A task that the server does not know, has cancelled, or has not finished
 *     when its time (`ttlMs`) was over has no known outcome.
 */
import type { Clock } from '../ports.js';
import { pause } from '../async/abort.js';
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import { asText } from '../text/as-text.js';
import { messageOf } from '../text/error-message.js';
import { cutText } from '../text/visible-text.js';
import { answersTo, unusable } from './input-rounds.js';
import { INTERNAL_ERROR, RequestLostError, RpcError } from './protocol-client.js';

/** The name of the extension. */
export const TASKS = 'io.modelcontextprotocol/tasks';
const DEFAULT_POLL_MS = 1_000;
const MIN_POLL_MS = 100;
const MAX_POLL_MS = 60_000;
/** How often in a row the way to the server may fail before the call does. */
const MAX_FAILURES = 5;
const MAX_ROUNDS = 10;
const MAX_MESSAGE = 500;

/** A call that runs at its server. */
export interface Task {
  readonly id: string;
  /** When the server said so, milliseconds since the epoch. */
  readonly startedAt: number;
  /** The server has said how it ended, or that it does not know it. */
  isOver: boolean;
  /** The answers to its questions, by key; undefined once the server has taken one. */
  readonly answers: Map<string, JsonObject | undefined>;
  rounds: number;
  /** What the server said of it last. */
  message: string | undefined;
}

/** Learns what happens to the task of a call. */
export interface TaskWatcher {
  /** The server has answered with a task. */
  begun(task: Task): void;
  /** The server is asked for its state. */
  asked(): void;
  /** The server has told its state. `message`: what it says now; undefined if it says nothing new. */
  heard(message: string | undefined): void;
}

export interface TaskPorts {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly watcher: TaskWatcher | undefined;
  /** Sends a request about the task. */
  readonly ask: (method: 'tasks/get' | 'tasks/update', params: JsonObject) => Promise<JsonObject>;
  /** Answers one question. Rejects with an `RpcError` if it is refused. */
  readonly answer: (method: string, params: JsonObject) => Promise<JsonObject>;
  readonly cancel: () => void;
}

export function isTask(result: JsonObject): boolean {
  return result['resultType'] === 'task';
}

/** Throws a `RequestLostError` if the answer names no task. */
export function taskIn(result: JsonObject, now: number): Task {
  const { taskId: id } = result;
  if (typeof id !== 'string' || id === '') throw unusable('The server answered with a task without an id.');
  return { id, startedAt: now, isOver: false, answers: new Map(), rounds: 0, message: undefined };
}

/**
 * Follows the task to its end, and returns the result of the call. `first`: what the server said when it began. Rejects with
 * the `RpcError` that it ended with, with a `RequestLostError`, or with the reason of the signal.
 */
export async function followTask(
  task: Task,
  first: JsonObject | undefined,
  ports: TaskPorts,
): Promise<JsonObject> {
  try {
    return await follow(task, first, ports);
  } catch (error) {
    const isOurs = error instanceof RequestLostError && error.failure.code === 'protocol-error';
    if (!task.isOver && (isOurs || ports.signal.aborted)) ports.cancel();
    throw error;
  }
}

async function follow(task: Task, first: JsonObject | undefined, ports: TaskPorts): Promise<JsonObject> {
  const { clock, signal } = ports;
  if (first !== undefined) hear(task, first, ports.watcher);
  let waitMs = first?.['status'] === 'working' ? pollMs(first['pollIntervalMs']) : 0;
  for (;;) {
    if (waitMs > 0) await pause(clock, waitMs, signal);
    const state = await stateOf(task, ports);
    const { status, ttlMs } = state;
    const outcome = outcomeOf(task, state);
    if (outcome !== undefined) return outcome;
    if (status === 'input_required') await answerQuestions(task, state, ports);
    else if (status !== 'working')
      throw unusable(
        `The task has the unknown status ${cutText(JSON.stringify(status) ?? 'undefined', 40)}.`,
      );
    if (typeof ttlMs === 'number' && ttlMs > 0 && clock.now() - task.startedAt >= ttlMs) {
      ports.cancel();
      throw ended(task, `The server did not finish the task in its time (ttlMs ${ttlMs}).`);
    }
    waitMs = pollMs(state['pollIntervalMs']);
  }
}

export function pollMs(wanted: unknown): number {
  if (typeof wanted !== 'number' || !Number.isFinite(wanted)) return DEFAULT_POLL_MS;
  return Math.min(Math.max(wanted, MIN_POLL_MS), MAX_POLL_MS);
}

/** Asks for the state. A balancer or a server that is busy for a moment does not end the call. */
async function stateOf(task: Task, { clock, signal, watcher, ask }: TaskPorts): Promise<JsonObject> {
  for (let failures = 1; ; failures += 1) {
    watcher?.asked();
    try {
      const state = await ask('tasks/get', { taskId: task.id });
      hear(task, state, watcher);
      return state;
    } catch (error) {
      if (error instanceof RpcError)
        throw ended(task, `The server was asked for the task, and refused: ${error.message}`, error.rpcCode);
      const retryMs = passingFor(error);
      if (retryMs === undefined || failures === MAX_FAILURES) throw error;
      watcher?.heard(undefined);
      await pause(clock, Math.max(pollMs(retryMs), DEFAULT_POLL_MS * 2 ** (failures - 1)), signal);
    }
  }
}

function hear(task: Task, { statusMessage: said }: JsonObject, watcher: TaskWatcher | undefined): void {
  const isNews = typeof said === 'string' && said !== '' && said !== task.message;
  if (isNews) task.message = said;
  watcher?.heard(isNews ? cutText(said, MAX_MESSAGE) : undefined);
}

/** After how long to ask again if the way to the server failed for a moment, in milliseconds; undefined if it did not. */
function passingFor(error: unknown): number | undefined {
  const { http } = error instanceof RequestLostError ? error.failure : {};
  if (http === undefined) return undefined;
  return http.status === 429 || http.status >= 500 ? (http.retryAfterMs ?? 0) : undefined;
}

/** The result of a task that is over; undefined if it is not. Throws how it ended otherwise. */
function outcomeOf(task: Task, { status, result, error, statusMessage }: JsonObject): JsonObject | undefined {
  switch (status) {
    case 'completed':
      if (!isJsonObject(result)) throw unusable('The task is completed, and has no result.');
      task.isOver = true;
      return result;
    case 'failed': {
      task.isOver = true;
      const { code, message, data } = isJsonObject(error) ? error : {};
      const said = asText(message ?? statusMessage ?? 'The task failed.');
      throw new RpcError(typeof code === 'number' ? code : INTERNAL_ERROR, said, data, 'tools/call');
    }
    case 'cancelled':
      throw ended(
        task,
        `The server cancelled the task${statusMessage === undefined ? '.' : `: ${asText(statusMessage)}`}`,
      );
    default:
      return undefined;
  }
}

/** Asks what was not asked before, and sends the answers that the server has not taken yet. */
async function answerQuestions(task: Task, { inputRequests }: JsonObject, ports: TaskPorts): Promise<void> {
  if (!isJsonObject(inputRequests)) throw unusable('The task wants input, but asks for none.');
  const open = Object.entries(inputRequests);
  const fresh = open.filter(([key]) => !task.answers.has(key));
  if (fresh.length > 0 && task.rounds === MAX_ROUNDS)
    throw unusable(`The task still had questions after ${MAX_ROUNDS} rounds.`);
  if (fresh.length > 0) task.rounds += 1;
  for (const [key, answer] of await answersTo(Object.fromEntries(fresh), ports))
    task.answers.set(key, answer);
  const inputResponses = Object.fromEntries(
    open.flatMap(([key]) => {
      const answer = task.answers.get(key);
      return answer === undefined ? [] : [[key, answer] as const];
    }),
  );
  if (Object.keys(inputResponses).length === 0) return;
  ports.watcher?.asked();
  try {
    await ports.ask('tasks/update', { taskId: task.id, inputResponses });
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    throw unusable(`The server refused the answers to the questions of the task: ${messageOf(error)}`);
  }
  ports.watcher?.heard(undefined);
  for (const key of Object.keys(inputResponses)) task.answers.set(key, undefined);
}

/** The task has ended without an outcome of the call. */
function ended(task: Task, message: string, rpcCode?: number): RequestLostError {
  task.isOver = true;
  const code = rpcCode === undefined ? {} : { rpcCode };
  return new RequestLostError({ code: 'server-error', message, ...code }, true);
}
