/** Opens an address in the person's browser. No shell reads the address, and failure is harmless. */
import { spawn } from 'node:child_process';
import { parse } from 'node:path';
import { THIS_PLATFORM, type Platform } from '../platform/platform.js';

/** A relative folder in `PATH`, or Windows by itself, would look for the program in the project. */
const ROOT = parse(process.execPath).root;

export function openBrowser(url: string, { opener }: Pick<Platform, 'opener'> = THIS_PLATFORM): void {
  const [command, ...args] = opener;
  try {
    const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true, cwd: ROOT });
    child.on('error', () => {});
    child.unref();
  } catch {
    // The address is published as well.
  }
}
