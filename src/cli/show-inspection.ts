/**
 * Tells a person the address of an inspection, and opens it where that person sits at a desktop. Other processes of the
 * user find it for as long as it is shown.
 */
import { openBrowser } from '../auth/open-browser.js';
import type { RegisteredInspection } from '../inspection/registration.js';
import { systemClock } from '../ports.js';
import { messageOf } from '../thrown.js';
import { oneLine } from './safe-text.js';
import type { Terminal } from './terminal.js';

export interface Surroundings {
  /** Somebody sees what is printed. */
  readonly isTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** Whether a browser that is opened here is in front of the person. */
export function isAtDesktop({ isTerminal, env, platform }: Surroundings): boolean {
  const isSet = (name: string): boolean => (env[name] ?? '') !== '';
  if (!isTerminal || isSet('CI') || isSet('SSH_CONNECTION') || isSet('SSH_TTY')) return false;
  return platform === 'darwin' || platform === 'win32' || isSet('DISPLAY') || isSet('WAYLAND_DISPLAY');
}

export interface ShowOptions {
  readonly title: string;
  readonly mode: RegisteredInspection['mode'];
  readonly url: string;
  /** Whether a browser may be opened. */
  readonly opens: boolean;
}

/** Registers it, and opens it where that helps. The function that is given takes the registration back. */
export async function showInspection(
  { title, mode, url, opens }: ShowOptions,
  terminal: Terminal,
): Promise<() => Promise<void>> {
  const { inspectionFolder, registerInspection } = await import('../inspection/registration.js');
  const inspection = { pid: process.pid, url, title, mode, startedAt: systemClock.now() };
  try {
    const registration = await registerInspection(inspection, await inspectionFolder());
    if (opens) openDoor(registration.door, terminal);
    return () => registration.remove();
  } catch (error) {
    const why = messageOf(error);
    terminal.note(oneLine(`troupe: 'troupe inspect' will not find this one: ${why}`));
    return async () => {};
  }
}

/** Opens the file that leads to the page, where the person is at a desktop. */
export function openDoor(door: string, terminal: Terminal): void {
  const isTerminal = terminal.isLive(terminal.stderr);
  if (isAtDesktop({ isTerminal, env: process.env, platform: process.platform })) openBrowser(door);
}
