/** Kinds of diagnostics that a person who changes the files wants to know of, from a command that obeys them. */
export const OF_THE_FILES: ReadonlySet<string> = new Set([
  'config-reloaded',
  'config-problem',
  'entry-outdated',
  'reload-failed',
  'watch-problem',
]);
