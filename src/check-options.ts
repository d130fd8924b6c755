/** Refuses options that make no sense, before anything is made of them. */
import { authProblems } from './auth/auth-options.js';
import { handlersProblems } from './server-requests/handlers-option.js';
import { reviewProblem } from './review/review-option.js';
import { cacheProblem } from './catalog/cache-option.js';
import type { ApprovalStore } from './config/approval-store.js';
import { isObject, kindOf, readShape, type Report } from './config/read-shape.js';
import { OPTIONS_SCHEMA, VIEW_SCHEMA } from './config/schema.js';
import { recordProblem } from './event-log/record-options.js';
import type { TroupeOptions } from './options.js';
import type { Clock, Logger } from './ports.js';
import { checkPort, refuseProblems } from './refuse-options.js';
import type { ViewOptions } from './view.js';

/** Objects of the host, and the functions that each must have. */
const PORTS = {
  approvals: ['has', 'list', 'approve', 'revoke'] satisfies readonly (keyof ApprovalStore)[],
  clock: ['now', 'setTimeout', 'clearTimeout'] satisfies readonly (keyof Clock)[],
  logger: ['debug', 'warn', 'error'] satisfies readonly (keyof Logger)[],
} satisfies { readonly [K in keyof TroupeOptions]?: readonly string[] };

/** Throws a `ConfigError` that names every option that is wrong, and what was expected. */
export function checkOptions(options: TroupeOptions): void {
  refuseProblems('createTroupe', (report) => {
    readShape(options, OPTIONS_SCHEMA, [], report);
    if (isObject(options)) checkValues(options, report);
  });
}

/** Throws a `ConfigError` that names what is wrong: a view that was misspelt would show more than was meant. */
export function checkViewOptions(options: ViewOptions): void {
  refuseProblems('view', (report) => void readShape(options, VIEW_SCHEMA, [], report));
}

/** What the shape does not tell. */
function checkValues(options: TroupeOptions, report: Report): void {
  const { trust, inspector, env, record, cache, review, auth, handlers, capabilities } = options;
  if (!isTrustPolicy(trust)) report(['trust'], "expected 'all', 'remote-only' or a function");
  for (const [field, functions] of Object.entries(PORTS))
    checkPort(options[field as keyof typeof PORTS], field, functions, report);
  if (!isInspector(inspector))
    report(['inspector'], "expected a function, or an object with the function 'next'");
  // What is in it is read only where it is wanted.
  if (env !== undefined && !isObject(env))
    report(['env'], `expected an object of strings, found ${kindOf(env)}`);
  const ofFields = [
    ['record', record === undefined ? undefined : recordProblem(record)],
    ['cache', cacheProblem(cache)],
    ['review', reviewProblem(review)],
  ] as const;
  for (const [field, message] of ofFields) if (message !== undefined) report([field], message);
  for (const { field, message } of [...authProblems(auth), ...handlersProblems(handlers, capabilities)])
    report([field], message);
  for (const [field, value] of functionsIn(options)) {
    if (value === undefined || typeof value === 'function') continue;
    report([field], `expected a function, found ${kindOf(value)}`);
  }
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

function isInspector(inspector: unknown): boolean {
  if (inspector === undefined || typeof inspector === 'function') return true;
  return isObject(inspector) && typeof inspector['next'] === 'function';
}
