/**
 * The message of a thrown value, which may be anything. Nothing here throws.
 *
 * An error may be of another realm: a test runner that runs every file in one of its own, such as Jest, passes on the errors of
 * Node's modules.
 *
 * The folder `text` holds helpers for strings. They know nothing of MCP and do no input or output.
 */
const NO_REASON = 'no reason was given';

function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || Object.prototype.toString.call(thrown) === '[object Error]';
}

/** The message of an error; any other value as text, if it can be converted. */
export function messageOf(thrown: unknown): string {
  try {
    return String(isError(thrown) ? thrown.message : thrown);
  } catch {
    return NO_REASON;
  }
}

/** The thrown error, or an error with the thrown value as its message. */
export function toError(thrown: unknown): Error {
  return isError(thrown) ? thrown : new Error(messageOf(thrown));
}

/** The code that Node or the system gave an error, such as `ENOENT`. */
export function codeOf(thrown: unknown): string | undefined {
  if (!isError(thrown)) return undefined;
  const { code } = thrown as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

/** The message of a failed import names the module. Others may hold a path, an address or an argument. */
const IMPORT_FAILED = /^(?:ERR_)?(?:MODULE_NOT_FOUND|PACKAGE_|REQUIRE_|DLOPEN_)/;

/** Why something failed: the code of the error; without one, or if a module could not be loaded, the first line of its message. */
export function reasonOf(thrown: unknown): string {
  if (!isError(thrown)) return NO_REASON;
  const code = codeOf(thrown);
  if (code !== undefined && !IMPORT_FAILED.test(code)) return code;
  const [line = ''] = messageOf(thrown).split('\n', 1);
  return line === '' ? NO_REASON : line;
}

/** A message lists this many problems, and counts the others. */
const MAX_LISTED = 5;

/** The first problems of a value as one text. `whole` is the word for an empty path. */
export function problemsInWords(
  problems: readonly { readonly path: string; readonly message: string }[],
  whole: string,
): string {
  const listed = problems.slice(0, MAX_LISTED).map(({ path, message }) => `${path || whole} ${message}`);
  const others = problems.length - listed.length;
  return listed.join('; ') + (others > 0 ? `; and ${others} more` : '');
}
