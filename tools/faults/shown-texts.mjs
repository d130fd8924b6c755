/** The texts that a host could show to a person: the texts in a value, and the description of a failure. */

/** Characters that start a terminal escape sequence. */
export const ESCAPES = ['\u001b', '\u009b'];

/** Every text in a value at any depth, including the names of fields, because names can be data. */
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

/** The content of a failure record in one line, without names of fields, time and phase. */
export function failureText({ code, message, hint, exit, http, rpcCode, stderrTail = [] }) {
  const exitText = exit?.signal === null ? `exit code ${exit.code}` : exit && `signal ${exit.signal}`;
  const httpParts = [http?.status, http?.wwwAuthenticate, http?.bodyStart];
  return [`${code}: ${message}`, hint, exitText, ...httpParts, rpcCode, ...stderrTail]
    .filter((part) => part !== undefined)
    .join(' | ')
    .replaceAll(/\s+/g, ' ');
}

/** The texts of a thrown error, of its fields and of its causes. */
export function* textsOfError(error, depth = 8) {
  if (!(error instanceof Error) || depth === 0) {
    yield* textsOf(error);
    return;
  }
  yield error.stack ?? `${error.name}: ${error.message}`;
  yield* textsOf({ ...error, cause: undefined });
  if (error.cause !== undefined) yield* textsOfError(error.cause, depth - 1);
}
