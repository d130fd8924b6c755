/**
 * The first watch of a file opens a descriptor that the process keeps for all later watches. A suite that watches files
 * calls this before `useLeakCheck`, so that the descriptor does not count as a leak.
 */
import { watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { beforeAll } from 'vitest';

export function useInotify(): void {
  beforeAll(() => watch(tmpdir(), { persistent: false }).close());
}
