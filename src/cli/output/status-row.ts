/** The row of the live table for one server, in words. Pure. */
import { hasTag } from '../../../machines/connection/connection.states.js';
import { stateInWords } from '../../lifecycle/state-in-words.js';
import type { ServerStatus } from '../../lifecycle/status.js';
import { shortDuration } from './duration.js';
import { summarize, summarizeWithCause } from './failure-report.js';
import { nameOf, oneLine } from './safe-text.js';
import { serverCommand } from '../../lifecycle/server-command.js';
import { leftOutLines } from './server-notes.js';

/** `good`: usable. `busy`: on its way. `bad`: needs a person. `off`: not wanted. */
export type Health = 'good' | 'busy' | 'bad' | 'off';

export interface Row {
  readonly health: Health;
  readonly name: string;
  readonly state: string;
  readonly tools: string;
  /** Process id or address. */
  readonly where: string;
  readonly up: string;
  readonly attempt: string;
  /** Time until the next attempt. */
  readonly next: string;
  /** Why it is, or was, not ready; empty if there is nothing to report. */
  readonly problem: string;
}

export function toRow(status: ServerStatus, now: number): Row {
  const { connectedAt, nextAttemptAt, attempt, maxAttempts } = status;
  const health = healthOf(status);
  const isTrying = health === 'busy' || health === 'bad';
  return {
    health,
    name: nameOf(status.server),
    state: stateInWords(status),
    tools: health === 'off' ? '' : String(status.toolCount),
    where: health === 'off' ? '' : oneLine(String(status.pid ?? status.url ?? '')),
    up: connectedAt === null ? '' : shortDuration(now - connectedAt),
    attempt: isTrying && attempt > 0 ? `${attempt}/${maxAttempts}` : '',
    next: nextAttemptAt === null ? '' : shortDuration(Math.ceil((nextAttemptAt - now) / 1_000) * 1_000),
    problem: hasTag(status, 'usable')
      ? leftOutLines(status)
          .map((line) => line.trim())
          .join(' ')
      : problemOf(status),
  };
}

function healthOf(status: ServerStatus): Health {
  if (hasTag(status, 'usable')) return 'good';
  if (status.state === 'stopped' || hasTag(status, 'dormant')) return 'off';
  return status.state === 'failed' || hasTag(status, 'waitingForPerson') ? 'bad' : 'busy';
}

function problemOf(status: ServerStatus): string {
  const { server, error, authUrl } = status;
  if (hasTag(status, 'awaitingTrust')) return serverCommand('trust', server);
  if (hasTag(status, 'authorizing') && authUrl === null) return serverCommand('login', server);
  if (authUrl === null) return error === null ? '' : summarizeWithCause(error);
  return [...(error === null ? [] : [summarize(error)]), oneLine(authUrl)].join(' ');
}
