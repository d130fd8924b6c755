/** What a row of the live table says about one server, in words. Pure. */
import type { ServerStatus } from '../lifecycle/status.js';
import { shortDuration } from './duration.js';
import { summarize } from './failure-report.js';
import { oneLine } from './safe-text.js';
import { serverCommand } from './server-command.js';

/** `good`: usable. `busy`: on its way. `bad`: not without a person. `off`: not wanted. */
export type Mood = 'good' | 'busy' | 'bad' | 'off';

export interface Row {
  readonly mood: Mood;
  readonly name: string;
  readonly state: string;
  readonly tools: string;
  /** Process id or address. */
  readonly where: string;
  readonly up: string;
  readonly attempt: string;
  /** Time until the next attempt. */
  readonly next: string;
  /** Why it is, or was, not ready; empty where there is nothing to tell. */
  readonly problem: string;
}

/** Places inside a state that a person should know by name. */
const SUBSTATES: Readonly<Record<string, string>> = {
  dormant: 'dormant',
  awaitingTrust: 'needs trust',
  authorizing: 'needs sign-in',
  offline: 'offline',
};

export function toRow(status: ServerStatus, now: number): Row {
  const { state, substate, connectedAt, nextAttemptAt, attempt, maxAttempts } = status;
  const mood = moodOf(status);
  const isTrying = mood === 'busy' || mood === 'bad';
  return {
    mood,
    name: oneLine(status.name),
    state: status.reason === 'disabled' ? 'disabled' : (SUBSTATES[substate] ?? state),
    tools: mood === 'off' ? '' : String(status.toolCount),
    where: mood === 'off' ? '' : oneLine(String(status.pid ?? status.url ?? '')),
    up: connectedAt === null ? '' : shortDuration(now - connectedAt),
    attempt: isTrying && attempt > 0 ? `${attempt}/${maxAttempts}` : '',
    next: nextAttemptAt === null ? '' : shortDuration(Math.ceil((nextAttemptAt - now) / 1_000) * 1_000),
    problem: state === 'ready' ? '' : problemOf(status),
  };
}

function moodOf({ state, substate }: ServerStatus): Mood {
  if (state === 'ready') return 'good';
  if (state === 'stopped' || substate === 'dormant') return 'off';
  const needsPerson = substate === 'awaitingTrust' || substate === 'authorizing';
  return state === 'failed' || needsPerson ? 'bad' : 'busy';
}

function problemOf({ name, substate, error, authUrl }: ServerStatus): string {
  if (substate === 'awaitingTrust') return serverCommand('trust', name);
  if (substate === 'authorizing' && authUrl === null) return serverCommand('login', name);
  const parts = [error === null ? '' : summarize(error), oneLine(authUrl ?? error?.hint ?? '')];
  return parts.filter((part) => part !== '').join(' ');
}
