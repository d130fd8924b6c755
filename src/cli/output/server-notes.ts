/** Notes of a command about the servers that it needs: why they are not ready, and warnings about their entries. */
import { hasTag } from '../../../machines/connection/connection.states.js';
import { describeProblem } from '../../config/entry/problem.js';
import type { ConfigProblem } from '../../errors.js';
import type { ServerStatus } from '../../lifecycle/status.js';
import { countOf } from './duration.js';
import { explain } from './failure-report.js';
import { nameOf, oneLine, type Terminal } from './terminal.js';

/** Notes the warnings about these servers and about the files as a whole. */
export function noteWarnings(
  warnings: readonly ConfigProblem[],
  needed: readonly string[],
  terminal: Terminal,
): void {
  for (const warning of warnings) {
    if (warning.server !== undefined && !needed.includes(warning.server)) continue;
    terminal.note(terminal.noteColors.yellow(describeProblem(warning)));
  }
}

const MAX_NAMED = 5;

/** The tools of a server that cannot be offered, and why; empty if there are none. */
export function leftOutLines({ toolsLeftOut }: Pick<ServerStatus, 'toolsLeftOut'>): readonly string[] {
  const count = toolsLeftOut.length;
  if (count === 0) return [];
  const named = toolsLeftOut
    .slice(0, MAX_NAMED)
    .map(({ tool, why }) => `  ${tool === null ? '' : `${oneLine(tool)}: `}${oneLine(why)}`);
  return [
    `${countOf(count, 'tool')} left out:`,
    ...named,
    ...(count > MAX_NAMED ? [`  and ${count - MAX_NAMED} more`] : []),
  ];
}

/** Notes which tools of these servers cannot be offered. */
export function noteLeftOut(
  statuses: readonly ServerStatus[],
  needed: readonly string[],
  terminal: Terminal,
): void {
  for (const status of statuses) {
    if (!needed.includes(status.server)) continue;
    const [first, ...rest] = leftOutLines(status);
    if (first === undefined) continue;
    terminal.note(terminal.noteColors.yellow(`${nameOf(status.server)}: ${first}`));
    for (const line of rest) terminal.note(line);
  }
}

/** Whether it is ready, or dormant with known tools. */
export function isUsable(status: ServerStatus): boolean {
  return hasTag(status, 'usable') || hasTag(status, 'dormant');
}

/** Notes why servers cannot be used, and returns whether there was any. */
export function noteFailures(
  statuses: readonly ServerStatus[],
  needed: readonly string[],
  terminal: Terminal,
): boolean {
  const failed = statuses.filter((status) => needed.includes(status.server) && !isUsable(status));
  for (const status of failed) {
    const [summary = '', ...details] = explain(status);
    terminal.note(`${terminal.noteColors.red('✗')} ${nameOf(status.server)}  ${summary}`);
    for (const line of details) terminal.note(`    ${line}`);
  }
  return failed.length > 0;
}

/** The server, with the account that its entry names. */
export function serverAndAccount(server: string, account: string | undefined): string {
  return account === undefined ? nameOf(server) : `${nameOf(server)} (account ${oneLine(account)})`;
}
