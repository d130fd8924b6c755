/** Refuses options that make no sense, before anything is made of them. */
import { authProblems } from './auth/auth-options.js';
import type { ApprovalStore } from './config/approval-store.js';
import { describeProblem, fieldName } from './config/problem.js';
import { isObject, kindOf, readShape } from './config/read-shape.js';
import { OPTIONS_SCHEMA } from './config/schema.js';
import { ConfigError, type ConfigProblem } from './errors.js';
import { isLogSink } from './event-log/log-sink.js';
import type { TroupeOptions } from './options.js';

const SOURCE = 'createTroupe';
const APPROVAL_STORE = ['has', 'list', 'approve', 'revoke'] satisfies readonly (keyof ApprovalStore)[];

/** Throws a `ConfigError` that names every option that is wrong, and what was expected. */
export function checkOptions(options: TroupeOptions): void {
  const problems: ConfigProblem[] = [];
  readShape(options, OPTIONS_SCHEMA, [], (path, message) => {
    problems.push({ source: SOURCE, ...(path.length > 0 && { field: fieldName(path) }), message });
  });
  if (isObject(options) && !isTrustPolicy(options.trust)) {
    problems.push({ source: SOURCE, field: 'trust', message: "expected 'all', 'remote-only' or a function" });
  }
  if (isObject(options) && !isApprovalStore(options.approvals)) {
    const message = "expected an object with the functions 'has', 'list', 'approve' and 'revoke'";
    problems.push({ source: SOURCE, field: 'approvals', message });
  }
  if (isObject(options) && !isRecordTarget(options.record)) {
    const message = "expected a path, or an object with the functions 'write' and 'close'";
    problems.push({ source: SOURCE, field: 'record', message });
  }
  for (const problem of isObject(options) ? authProblems(options.auth) : []) {
    problems.push({ source: SOURCE, ...problem });
  }
  for (const [field, value] of isObject(options) ? functionsIn(options) : []) {
    if (value === undefined || typeof value === 'function') continue;
    problems.push({ source: SOURCE, field, message: `expected a function, found ${kindOf(value)}` });
  }
  if (problems.length > 0) throw new ConfigError(problems.map(describeProblem).join('; '), { problems });
}

function functionsIn({
  discover,
  askInput,
}: TroupeOptions): readonly (readonly [field: string, value: unknown])[] {
  return [
    ['askInput', askInput],
    ['discover.filter', isObject(discover) ? discover['filter'] : undefined],
  ];
}

function isTrustPolicy(trust: unknown): boolean {
  return trust === undefined || trust === 'all' || trust === 'remote-only' || typeof trust === 'function';
}

function isRecordTarget(record: unknown): boolean {
  return record === undefined || isLogSink(record) || (typeof record === 'string' && record !== '');
}

function isApprovalStore(store: unknown): boolean {
  if (store === undefined) return true;
  return isObject(store) && APPROVAL_STORE.every((name) => typeof store[name] === 'function');
}
