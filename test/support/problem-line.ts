/** A problem of a configuration as one line with its code in place of its message. */
import { describeProblem } from '../../src/config/entry/problem.js';
import type { ConfigProblem } from '../../src/errors.js';

/** `kit.json:4:2: server 'a', field 'args[1]': wrong-type` */
export function problemLine(problem: ConfigProblem): string {
  return describeProblem({ ...problem, message: problem.code });
}
