import { vi } from 'vitest';
import { userVariables, type UserFolders } from './user-variables.js';

/** Moves the folders of the user until `vi.unstubAllEnvs`. */
export function stubUser(folders: UserFolders): void {
  for (const [name, value] of Object.entries(userVariables(folders))) vi.stubEnv(name, value);
}
