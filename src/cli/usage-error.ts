/** The command line asks for something that does not exist or makes no sense. The message is one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
