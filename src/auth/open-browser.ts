/** Opens an address in the person's browser. No shell reads the address, and failure is harmless. */
import { spawn } from 'node:child_process';
import { parse } from 'node:path';

/** The program of each platform that hands an address to the browser. */
const OPENERS: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** A relative folder in `PATH`, or Windows by itself, would look for the program in the project. */
const ROOT = parse(process.execPath).root;

export function openBrowser(url: string, platform: NodeJS.Platform = process.platform): void {
  const [command, ...args] = OPENERS[platform] ?? ['xdg-open'];
  try {
    const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true, cwd: ROOT });
    child.on('error', () => {});
    child.unref();
  } catch {
    // The address is published as well.
  }
}
