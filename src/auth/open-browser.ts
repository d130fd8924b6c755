/** Opens an address in the person's browser. No shell reads the address, and failure is harmless. */
import { spawn } from 'node:child_process';

/** The program of each platform that hands an address to the browser. */
const OPENERS: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

export function openBrowser(url: string, platform: NodeJS.Platform = process.platform): void {
  const [command, ...args] = OPENERS[platform] ?? ['xdg-open'];
  try {
    const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
    child.on('error', () => {});
    child.unref();
  } catch {
    // The address is published as well.
  }
}
