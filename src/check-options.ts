/** Refuses options that make no sense, before anything is made of them. */
import { authProblems } from './auth/auth-options.js';
import { handlersProblems } from './server-requests/handlers-option.js';
import { reviewProblem } from './review/review-option.js';
import { cacheProblem } from './catalog/cache-option.js';
import type { ApprovalStore } from './config/approval-store.js';
import { describeProblem, fieldName } from './config/problem.js';
import { isObject, kindOf, readShape } from './config/read-shape.js';
import { OPTIONS_SCHEMA, VIEW_SCHEMA } from './config/schema.js';
import { ConfigError, type ConfigProblem } from './errors.js';
import { recordProblem } from './event-log/record-options.js';
import type { TroupeOptions } from './options.js';
import type { Clock, Logger } from './ports.js';
import type { ViewOptions } from './view.js';

const SOURCE = 'createTroupe';
/** Objects of the host, and the functions that each must have. */
const PORTS = {
  approvals: ['has', 'list', 'approve', 'revoke'] satisfies readonly (keyof ApprovalStore)[],
  clock: ['now', 'setTimeout', 'clearTimeout'] satisfies readonly (keyof Clock)[],
  logger: ['debug', 'warn', 'error'] satisfies readonly (keyof Logger)[],
} satisfies { readonly [K in keyof TroupeOptions]?: readonly string[] };

/** Throws a `ConfigError` that names every option that is wrong, and what was expected. */
export function checkOptions(options: TroupeOptions): void {
  const problems: ConfigProblem[] = [];
  readShape(options, OPTIONS_SCHEMA, [], (path, message) => {
    problems.push({ source: SOURCE, ...(path.length > 0 && { field: fieldName(path) }), message });
  });
  if (isObject(options) && !isTrustPolicy(options.trust)) {
    problems.push({ source: SOURCE, field: 'trust', message: "expected 'all', 'remote-only' or a function" });
  }
  for (const [field, names] of isObject(options) ? Object.entries(PORTS) : []) {
    if (isPort(options[field as keyof typeof PORTS], names)) continue;
    const listed = names.map((name) => `'${name}'`);
    const message = `expected an object with the functions ${listed.slice(0, -1).join(', ')} and ${listed.at(-1)}`;
    problems.push({ source: SOURCE, field, message });
  }
  if (isObject(options) && !isInspector(options.inspector)) {
    const message = "expected a function, or an object with the function 'next'";
    problems.push({ source: SOURCE, field: 'inspector', message });
  }
  // What is in it is read only where it is wanted.
  if (isObject(options) && options.env !== undefined && !isObject(options.env)) {
    const message = `expected an object of strings, found ${kindOf(options.env)}`;
    problems.push({ source: SOURCE, field: 'env', message });
  }
  const hasRecord = isObject(options) && options.record !== undefined;
  const record = hasRecord ? recordProblem(options.record) : undefined;
  if (record !== undefined) problems.push({ source: SOURCE, field: 'record', message: record });
  const cache = isObject(options) ? cacheProblem(options.cache) : undefined;
  if (cache !== undefined) problems.push({ source: SOURCE, field: 'cache', message: cache });
  const review = isObject(options) ? reviewProblem(options.review) : undefined;
  if (review !== undefined) problems.push({ source: SOURCE, field: 'review', message: review });
  for (const problem of isObject(options) ? authProblems(options.auth) : []) {
    problems.push({ source: SOURCE, ...problem });
  }
  for (const problem of isObject(options) ? handlersProblems(options.handlers, options.capabilities) : []) {
    problems.push({ source: SOURCE, ...problem });
  }
  for (const [field, value] of isObject(options) ? functionsIn(options) : []) {
    if (value === undefined || typeof value === 'function') continue;
    problems.push({ source: SOURCE, field, message: `expected a function, found ${kindOf(value)}` });
  }
  if (problems.length > 0) throw new ConfigError(problems.map(describeProblem).join('; '), { problems });
}

/** Throws a `ConfigError` that names what is wrong: a view that was misspelt would show more than was meant. */
export function checkViewOptions(options: ViewOptions): void {
  const problems: ConfigProblem[] = [];
  readShape(options, VIEW_SCHEMA, [], (path, message) => {
    problems.push({ source: 'view', ...(path.length > 0 && { field: fieldName(path) }), message });
  });
  if (problems.length > 0) throw new ConfigError(problems.map(describeProblem).join('; '), { problems });
}

function functionsIn({
  discover,
  askInput,
  requiresApproval,
}: TroupeOptions): readonly (readonly [field: string, value: unknown])[] {
  return [
    ['askInput', askInput],
    ['requiresApproval', requiresApproval],
    ['discover.filter', isObject(discover) ? discover['filter'] : undefined],
  ];
}

function isTrustPolicy(trust: unknown): boolean {
  return trust === undefined || trust === 'all' || trust === 'remote-only' || typeof trust === 'function';
}

function isPort(port: unknown, names: readonly string[]): boolean {
  if (port === undefined) return true;
  return isObject(port) && names.every((name) => typeof port[name] === 'function');
}

function isInspector(inspector: unknown): boolean {
  if (inspector === undefined || typeof inspector === 'function') return true;
  return isObject(inspector) && typeof inspector['next'] === 'function';
}
