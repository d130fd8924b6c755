/**
 * Refuses a script that no server can follow, before a server tries: a misspelled fault would never happen.
 *
 * Does not judge what the server sends. Results, tools and messages may be as wrong as a test needs.
 */
import { fieldName } from '../config/entry/problem.js';
import { isObject, kindOf, readShape, type Report } from '../config/entry/read-shape.js';
import type { Schema } from '../config/entry/schema.js';
import type { Answer, HttpReply, Misbehavior, ScriptedOrder, ServerScript } from './server-script.js';
import { readFileSync } from 'node:fs';
import { digitGroups } from '../text/digit-groups.js';
import { nearestName } from '../text/option-names.js';

/** Throws a `TypeError` that names every field that is wrong, and what was expected. */
export function checkScript(script: unknown): void {
  check('script', (report) => readScript(script, [], report));
}

/** As `checkScript`. */
export function checkOrder(order: unknown): void {
  check('order', (report) => {
    readShape(order, ORDER, [], report);
    if (isObject(order) && order['script'] !== undefined) readScript(order['script'], ['script'], report);
  });
}

const ANYTHING: Schema = {};
const TEXT: Schema = { type: 'string' };
const LIST: Schema = { type: 'array' };
const OBJECT: Schema = { type: 'object' };
const COUNT: Schema = { type: 'integer', minimum: 0 };

const MISBEHAVIOR = {
  afterMs: { type: 'number', minimum: 0 },
  stderr: TEXT,
  garbage: TEXT,
  fault: { type: 'string', enum: ['silent', 'crash'] },
  exitCode: { type: 'integer', minimum: 0, maximum: 255, title: 'a whole number from 0 to 255' },
} satisfies Record<keyof Misbehavior, Schema>;

const ANSWER: Schema = {
  type: 'object',
  properties: {
    ...MISBEHAVIOR,
    result: ANYTHING,
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'integer' }, message: TEXT, data: ANYTHING },
    },
    progress: COUNT,
    ask: { type: 'object', required: ['method'], properties: { method: TEXT, params: OBJECT } },
    tools: LIST,
    task: { type: 'array', items: OBJECT },
    http: {
      type: 'object',
      properties: {
        status: { type: 'integer', minimum: 200, maximum: 599, title: 'a status from 200 to 599' },
        headers: { type: 'object', additionalProperties: TEXT },
        body: TEXT,
        broken: { type: 'boolean' },
      } satisfies Record<keyof HttpReply, Schema>,
      additionalProperties: false,
    },
  } satisfies Record<keyof Answer, Schema>,
  additionalProperties: false,
};

/** Requests of a client, and those of HTTP. A server may know further ones. */
const METHODS: readonly string[] = [
  'GET',
  'DELETE',
  'initialize',
  'server/discover',
  'subscriptions/listen',
  'ping',
  'tools/list',
  'tools/call',
  'tasks/get',
  'tasks/result',
  'tasks/list',
  'tasks/cancel',
  'tasks/update',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
];

const SCRIPT: Schema = {
  type: 'object',
  properties: {
    tools: LIST,
    pages: { type: 'array', items: LIST },
    era: { type: 'string', enum: ['old', 'new', 'both'] },
    protocolVersion: TEXT,
    capabilities: OBJECT,
    start: { type: 'object', properties: MISBEHAVIOR, additionalProperties: false },
    stubborn: { type: 'boolean' },
    on: OBJECT,
    beforeConnect: ANYTHING,
  } satisfies Record<keyof ServerScript, Schema>,
  additionalProperties: false,
};

const { afterMs: _, ...AT_ONCE } = { ...MISBEHAVIOR, fault: { type: 'string', enum: ['crash'] } as const };

const ORDER: Schema = {
  type: 'object',
  properties: {
    ...AT_ONCE,
    script: ANYTHING,
    tools: LIST,
    send: ANYTHING,
    endStreams: { type: 'boolean' },
    listening: { type: 'boolean' },
  } satisfies Record<keyof ScriptedOrder, Schema>,
  additionalProperties: false,
};

function check(noun: string, read: (report: Report) => void): void {
  const problems: string[] = [];
  read((path, _code, message) => {
    problems.push(path.length === 0 ? message : `'${fieldName(path)}': ${message}`);
  });
  if (problems.length > 0) throw new TypeError(`The ${noun} is invalid: ${problems.join('; ')}`);
}

function readScript(script: unknown, path: readonly string[], report: Report): void {
  readShape(script, SCRIPT, path, report);
  if (!isObject(script)) return;
  const { beforeConnect, on } = script;
  if (beforeConnect !== undefined && typeof beforeConnect !== 'function')
    report([...path, 'beforeConnect'], 'wrong-type', `expected a function, found ${kindOf(beforeConnect)}`);
  for (const [method, entry] of Object.entries(isObject(on) ? on : {})) {
    const at = [...path, 'on', method];
    const meant = METHODS.includes(method) ? undefined : nearestName(method, METHODS);
    if (meant !== undefined) report(at, 'unknown-field', `is no method of MCP; did you mean '${meant}'?`);
    if (!Array.isArray(entry)) readAnswer(entry, at, report);
    else if (entry.length === 0) report(at, 'empty-value', 'must not be empty');
    else for (const [index, answer] of entry.entries()) readAnswer(answer, [...at, index], report);
  }
}

function readAnswer(answer: unknown, path: readonly (string | number)[], report: Report): void {
  if (answer !== undefined && typeof answer !== 'function') readShape(answer, ANSWER, path, report);
}

// Passes a script to a program: as JSON on its command line, or in a file that is named there.

/** Linux accepts no longer single argument, without its final null. */
const MAX_BYTES = 131_071;

/** The script as an argument. Throws a `RangeError` if it is too long. */
export function toArgument(script: string): string {
  const bytes = Buffer.byteLength(script);
  if (bytes <= MAX_BYTES) return script;
  const sizes = `has ${digitGroups(bytes)} bytes, and an argument at most ${digitGroups(MAX_BYTES)}`;
  throw new RangeError(`The script ${sizes}: write it into a file, and start the program with its path.`);
}

/** The script in an argument. Throws an `Error` that names the file if it cannot be read or is not JSON. */
export function fromArgument(argument: string): ServerScript {
  const isFile = !argument.trimStart().startsWith('{');
  const text = isFile ? readFileSync(argument, 'utf8').replace(/^\uFEFF/, '') : argument;
  try {
    return JSON.parse(text) as ServerScript;
  } catch (cause) {
    const what = isFile ? `'${argument}'` : 'The argument';
    throw new Error(`${what} is not a script: ${(cause as Error).message}`, { cause });
  }
}
