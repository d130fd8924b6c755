/** What the command's exit codes mean. */
export const EXIT = {
  fine: 0,
  /** Something that was asked for failed, or was interrupted. */
  failed: 1,
  /** The command line or the configuration makes no sense; nothing was started for it. */
  usage: 2,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
