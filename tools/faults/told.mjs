/** What a host could show to a person: its texts, and what it says about a failure. */

/** What begins an escape sequence of a terminal. */
export const ESCAPES = ['\u001b', '\u009b'];

/** Every text in a value, however deep; the names of fields too, since names can be data. */
export function* textsOf(value) {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value)) for (const item of value) yield* textsOf(item);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      yield name;
      yield* textsOf(item);
    }
  }
}

/** Everything a failure record tells, as one line: no name of a field, no time, no phase. */
export function toldFailure({ code, message, hint, exit, http, rpcCode, stderrTail = [] }) {
  const ended = exit?.signal === null ? `exit code ${exit.code}` : exit && `signal ${exit.signal}`;
  const refused = [http?.status, http?.wwwAuthenticate, http?.bodyStart];
  return [`${code}: ${message}`, hint, ended, ...refused, rpcCode, ...stderrTail]
    .filter((part) => part !== undefined)
    .join(' | ')
    .replaceAll(/\s+/g, ' ');
}

/** The texts of a thrown error and of everything it carries or was caused by. */
export function* textsOfError(error, depth = 8) {
  if (!(error instanceof Error) || depth === 0) {
    yield* textsOf(error);
    return;
  }
  yield error.stack ?? `${error.name}: ${error.message}`;
  yield* textsOf({ ...error, cause: undefined });
  if (error.cause !== undefined) yield* textsOfError(error.cause, depth - 1);
}
