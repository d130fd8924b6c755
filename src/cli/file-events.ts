/** Kinds of diagnostics that a person who changes the files wants to know of, from a command that obeys them. */
const KINDS: ReadonlySet<string> = new Set([
  'config-reloaded',
  'config-problem',
  'entry-outdated',
  'reload-failed',
  'watch-problem',
]);

/** What is wrong with the files when the command starts has been said by then. */
export function isOfTheFiles(kind: string, hasStarted: boolean): boolean {
  return KINDS.has(kind) && (hasStarted || kind !== 'config-problem');
}
