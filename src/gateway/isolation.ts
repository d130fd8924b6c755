/** Which connections a client shares with others, by what it answers and what the entry of a server says. Pure. */
import type { Isolation } from '../options.js';
import type { ServerRow } from '../server-table.js';
import type { Answers } from './answers.js';

/** Whether a client has a connection of its own to a server. One that cannot be started, or may not, is nobody's. */
export function isOwn(row: ServerRow, answers: Answers): boolean {
  if ('failure' in row || !isEnabled(row)) return false;
  const { isolation } = row.config;
  return isolation === undefined ? Object.keys(answers).length > 0 : isolation === 'per-session';
}

/** One that cannot be started is enabled, as somebody wanted it. */
export function isEnabled(row: ServerRow): boolean {
  return 'failure' in row || row.config.enabled !== false;
}

export function isolationOf(row: ServerRow | undefined): Isolation | undefined {
  return row === undefined || 'failure' in row ? undefined : row.config.isolation;
}
