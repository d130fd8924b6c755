/** What a command notes about the servers it needs: why they are not ready, and what is odd about their entries. */
import { describeProblem } from '../config/problem.js';
import type { ConfigProblem } from '../errors.js';
import type { ServerStatus } from '../lifecycle/status.js';
import { explain } from './failure-report.js';
import { oneLine } from './safe-text.js';
import type { Terminal } from './terminal.js';

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

/** It is ready, or rests until it is used: its tools are known. */
export function isUsable({ state, substate }: ServerStatus): boolean {
  return state === 'ready' || substate === 'dormant';
}

/** Notes why servers cannot be used, and gives whether there was any. */
export function noteFailures(
  statuses: readonly ServerStatus[],
  needed: readonly string[],
  terminal: Terminal,
): boolean {
  const failed = statuses.filter((status) => needed.includes(status.name) && !isUsable(status));
  for (const status of failed) {
    const [summary = '', ...details] = explain(status);
    terminal.note(`${terminal.noteColors.red('✗')} ${oneLine(status.name)}  ${summary}`);
    for (const line of details) terminal.note(`    ${line}`);
  }
  return failed.length > 0;
}
