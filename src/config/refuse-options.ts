/** Validates options of the host, and reports all problems together. */
import { describeProblem, fieldName } from './entry/problem.js';
import { isObject, type Report } from './entry/read-shape.js';
import { ConfigError, type ConfigProblem } from '../errors.js';

/** Throws a `ConfigError` with everything that `check` reports about the options of `source`. */
export function refuseProblems(source: string, check: (report: Report) => void): void {
  const problems: ConfigProblem[] = [];
  check((path, code, message) => {
    problems.push({ code, source, ...(path.length > 0 && { field: fieldName(path) }), message });
  });
  if (problems.length > 0) throw new ConfigError(problems.map(describeProblem).join('; '), { problems });
}

/** Reports a host's object that lacks one of its required functions. */
export function checkPort(port: unknown, field: string, functions: readonly string[], report: Report): void {
  if (port === undefined) return;
  if (isObject(port) && functions.every((name) => typeof port[name] === 'function')) return;
  const listed = functions.map((name) => `'${name}'`);
  report(
    [field],
    'wrong-type',
    `expected an object with the functions ${listed.slice(0, -1).join(', ')} and ${listed.at(-1)}`,
  );
}
