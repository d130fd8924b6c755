/**
 * Puts a file in the place of another. On Windows that fails while another process has one of them open, which is over in a
 * moment: a reader, a virus scanner, a search index.
 */
import { rename } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { THIS_PLATFORM, type Platform } from '../platform/platform.js';

/** Milliseconds before each further try; together about two seconds. */
const PAUSES = [5, 10, 20, 40, 80, 160, 320, 640, 725];

export interface ReplaceTerms {
  readonly platform?: Pick<Platform, 'busyFileCodes'>;
  readonly move?: (from: string, to: string) => Promise<void>;
  readonly wait?: (ms: number) => Promise<unknown>;
}

/** As `rename` of `node:fs`, which a test can replace, with further tries while a file is open elsewhere. */
export async function replaceFile(
  from: string,
  to: string,
  { platform = THIS_PLATFORM, move = rename, wait = pause }: ReplaceTerms = {},
): Promise<void> {
  for (const ms of PAUSES) {
    try {
      return await move(from, to);
    } catch (error) {
      if (!platform.busyFileCodes.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
    await wait(ms);
  }
  return move(from, to);
}
