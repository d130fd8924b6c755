/**
 * The first watch of a file opens a descriptor that the process keeps for all later ones. A suite that watches files
 * opens it before it looks for leaks: to be called before `useLeakCheck`.
 */
import { watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { beforeAll } from 'vitest';

export function useInotify(): void {
  beforeAll(() => watch(tmpdir(), { persistent: false }).close());
}
