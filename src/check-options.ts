/** Refuses options that make no sense, before anything is made of them. */
import { describeProblem, fieldName } from './config/problem.js';
import { isObject, readShape } from './config/read-shape.js';
import { OPTIONS_SCHEMA } from './config/schema.js';
import { ConfigError, type ConfigProblem } from './errors.js';
import type { TroupeOptions } from './options.js';

const SOURCE = 'createTroupe';

/** Throws a `ConfigError` that names every option that is wrong, and what was expected. */
export function checkOptions(options: TroupeOptions): void {
  const problems: ConfigProblem[] = [];
  readShape(options, OPTIONS_SCHEMA, [], (path, message) => {
    problems.push({ source: SOURCE, ...(path.length > 0 && { field: fieldName(path) }), message });
  });
  if (isObject(options) && !isTrustPolicy(options.trust)) {
    problems.push({ source: SOURCE, field: 'trust', message: "expected 'all', 'remote-only' or a function" });
  }
  if (problems.length > 0) throw new ConfigError(problems.map(describeProblem).join('; '), { problems });
}

function isTrustPolicy(trust: unknown): boolean {
  return trust === undefined || trust === 'all' || trust === 'remote-only' || typeof trust === 'function';
}
