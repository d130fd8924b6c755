/**
 * Prints the address of an inspection, and opens it if the person sits at a desktop. While it is shown, other processes
 * of the user can find it.
 */
import { openBrowser } from '../../auth/open-browser.js';
import type { RegisteredInspection } from '../../inspector/registration.js';
import { THIS_PLATFORM, type Platform } from '../../platform/platform.js';
import { systemClock } from '../../ports.js';
import { messageOf } from '../../text/error-message.js';
import { oneLine, type Terminal } from './terminal.js';

export interface Environment {
  /** Whether a person sees the output. */
  readonly isTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: Pick<Platform, 'isDesktop'>;
}

/** Whether a browser that opens here is in front of the person. */
export function isAtDesktop({ isTerminal, env, platform }: Environment): boolean {
  const isSet = (name: string): boolean => (env[name] ?? '') !== '';
  if (!isTerminal || isSet('CI') || isSet('SSH_CONNECTION') || isSet('SSH_TTY')) return false;
  return platform.isDesktop || isSet('DISPLAY') || isSet('WAYLAND_DISPLAY');
}

export interface ShowOptions {
  readonly title: string;
  readonly mode: RegisteredInspection['mode'];
  readonly url: string;
  /** Whether a browser may be opened. */
  readonly opens: boolean;
}

/** Registers it, and opens it if that helps. The returned function removes the registration. */
export async function showInspection(
  { title, mode, url, opens }: ShowOptions,
  terminal: Terminal,
): Promise<() => Promise<void>> {
  const { inspectionFolder, registerInspection } = await import('../../inspector/registration.js');
  const inspection = { pid: process.pid, url, title, mode, startedAt: systemClock.now() };
  try {
    const registration = await registerInspection(inspection, await inspectionFolder());
    if (opens) openInspection(registration.door, terminal);
    return () => registration.remove();
  } catch (error) {
    const why = messageOf(error);
    terminal.note(oneLine(`troupe: 'troupe inspect' cannot find this inspection: ${why}`));
    return async () => {};
  }
}

/** Opens the file that redirects to the page, if the person is at a desktop. */
export function openInspection(door: string, terminal: Terminal): void {
  const isTerminal = terminal.isLive(terminal.stderr);
  if (isAtDesktop({ isTerminal, env: process.env, platform: THIS_PLATFORM })) openBrowser(door);
}
