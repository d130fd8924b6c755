/** How a command ends: its exit codes, and the error for a command line that makes no sense. */

export const EXIT = {
  fine: 0,
  /** A requested operation failed, or was interrupted. */
  failed: 1,
  /** The command line or the configuration is wrong; nothing was started. */
  usage: 2,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command line names something that does not exist, or makes no sense. The message is one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
