/** Options of the host that make no sense, refused all together. */
import { describeProblem, fieldName } from './config/problem.js';
import { isObject, type Report } from './config/read-shape.js';
import { ConfigError, type ConfigProblem } from './errors.js';

/** Throws a `ConfigError` that names everything that `check` reports of what was given to `source`. */
export function refuseProblems(source: string, check: (report: Report) => void): void {
  const problems: ConfigProblem[] = [];
  check((path, message) => {
    problems.push({ source, ...(path.length > 0 && { field: fieldName(path) }), message });
  });
  if (problems.length > 0) throw new ConfigError(problems.map(describeProblem).join('; '), { problems });
}

/** Reports an object of the host that is given, and lacks one of the functions that it must have. */
export function checkPort(port: unknown, field: string, functions: readonly string[], report: Report): void {
  if (port === undefined) return;
  if (isObject(port) && functions.every((name) => typeof port[name] === 'function')) return;
  const listed = functions.map((name) => `'${name}'`);
  report(
    [field],
    `expected an object with the functions ${listed.slice(0, -1).join(', ')} and ${listed.at(-1)}`,
  );
}
