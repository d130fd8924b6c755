/** The tasks of a scripted server (extension `io.modelcontextprotocol/tasks` of MCP 2026-07-28). They outlive its sessions. */
import { isJsonObject } from '../json/json-object.js';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../protocol/protocol-client.js';
import { META_PREFIX } from '../protocol/server-identity.js';
import { TASKS } from '../protocol/tasks.js';
import { asText } from '../text/as-text.js';
import type { Params, ServerScript, TaskState } from './server-script.js';

interface ScriptedTask {
  readonly states: readonly TaskState[];
  /** The present state. */
  at: number;
  isCancelled: boolean;
  /** Of the call. */
  readonly result: unknown;
}

const METHOD = /^tasks\/(?:get|update|cancel)$/;

/** Whether the script has tasks, and so offers them. */
export function offersTasks({ on = {} }: ServerScript): boolean {
  return Object.values(on)
    .flat()
    .some((answer) => typeof answer === 'object' && answer.task !== undefined);
}

export class ScriptedTasks {
  readonly #tasks = new Map<string, ScriptedTask>();

  /** Begins a task; undefined if the client has not said that it follows tasks. */
  begin(states: readonly TaskState[], params: Params, result: unknown): Params | undefined {
    const meta = params['_meta'] as Params | undefined;
    const declared = meta?.[`${META_PREFIX}clientCapabilities`] as Params | undefined;
    if (!isJsonObject(declared?.['extensions']) || declared['extensions'][TASKS] === undefined)
      return undefined;
    const taskId = `task-${this.#tasks.size + 1}`;
    const task = { states, at: 0, isCancelled: false, result };
    this.#tasks.set(taskId, task);
    const { result: _r, error: _e, inputRequests: _i, ...first } = stateOf(taskId, task);
    return { ...first, resultType: 'task' };
  }

  /** Answers a request about a task. Throws a JSON-RPC error. */
  answer(method: string, params: Params): unknown {
    if (!METHOD.test(method)) throw fault(METHOD_NOT_FOUND, 'Method not found');
    const taskId = asText(params['taskId']);
    const task = this.#tasks.get(taskId);
    if (task === undefined) throw fault(INVALID_PARAMS, 'Task not found');
    if (method === 'tasks/cancel') task.isCancelled = true;
    const isAsking = task.states[task.at]?.status === 'input_required';
    const moves = method === 'tasks/update' || (method === 'tasks/get' && !isAsking);
    if (moves) task.at = Math.min(task.at + 1, task.states.length - 1);
    return method === 'tasks/get' ? stateOf(taskId, task) : {};
  }
}

function stateOf(taskId: string, { states, at, isCancelled, result }: ScriptedTask): Params {
  const createdAt = new Date(0).toISOString();
  const begun = { taskId, status: 'working', createdAt, lastUpdatedAt: createdAt, ttlMs: null };
  const state: TaskState = { ...begun, ...(isCancelled ? { status: 'cancelled' } : states[at]) };
  return state.status === 'completed' && !('result' in state) ? { ...state, result } : state;
}

function fault(code: number, message: string): Error {
  return Object.assign(new Error(message), { code });
}
