/** The servers that a command names; without names, all configured ones. */
import { UsageError } from '../exit-codes.js';
import { noSuchServer } from './tool-target.js';

/** Throws a `UsageError` for a name that is not configured. */
export function serversNamed(names: readonly string[], configured: readonly string[]): readonly string[] {
  const unknown = names.find((name) => !configured.includes(name));
  if (unknown !== undefined) throw new UsageError(noSuchServer(unknown, configured));
  return names.length === 0 ? configured : configured.filter((name) => names.includes(name));
}
