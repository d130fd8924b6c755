/** One server in words: a row of the table. Pure. */
import { hasTag } from '../../../machines/connection/connection.states.js';
import { serverCommand } from '../../lifecycle/server-command.js';
import { stateInWords } from '../../lifecycle/state-in-words.js';
import type { ServerStatus } from '../../lifecycle/status.js';
import { shortDuration } from '../output/duration.js';
import { summarize, summarizeWithCause } from '../output/failure-report.js';
import { leftOutLines } from '../output/server-notes.js';
import { nameOf, oneLine } from '../output/terminal.js';

/** `good`: usable. `busy`: on its way. `bad`: needs a person. `off`: not wanted. */
export type Health = 'good' | 'busy' | 'bad' | 'off';

/** The cells of a row, each on one line. */
export type Column = 'server' | 'state' | 'tools' | 'uptime' | 'restarts' | 'transport' | 'where';

export interface Row extends Readonly<Record<Column, string>> {
  readonly health: Health;
  /** Why it is, or was, not ready; empty if there is nothing to report. */
  readonly problem: string;
}

/** `now` is in milliseconds since the epoch. */
export function toRow(status: ServerStatus, restarts: number, now: number): Row {
  const { connectedAt, transport, toolCount, pid, url } = status;
  const health = healthOf(status);
  const isOff = health === 'off';
  return {
    health,
    server: nameOf(status.server),
    state: stateInWords(status, now),
    tools: isOff ? '' : String(toolCount),
    uptime: connectedAt === null ? '' : shortDuration(now - connectedAt),
    restarts: restarts === 0 ? '' : String(restarts),
    transport,
    where: isOff ? '' : oneLine(String(pid ?? url ?? '')),
    problem: hasTag(status, 'usable')
      ? leftOutLines(status)
          .map((line) => line.trim())
          .join(' ')
      : problemOf(status),
  };
}

/** The number of servers of each health, in words. */
export function countHealth(statuses: readonly ServerStatus[]): string {
  const all = statuses.map(healthOf);
  const count = (health: Health): number => all.filter((each) => each === health).length;
  const others = [
    [count('busy'), 'on the way'],
    [count('bad'), 'failed'],
    [count('off'), 'off'],
  ] as const;
  return [
    `${count('good')} of ${all.length} ready`,
    ...others.flatMap(([number, words]) => (number === 0 ? [] : [`${number} ${words}`])),
  ].join(', ');
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
