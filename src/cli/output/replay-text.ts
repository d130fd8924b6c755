/** The result of `troupe replay`, for a person. */
import type { Divergence } from '../../event-log/replay/divergence.js';
import type { ReplayReport } from '../../event-log/replay/replay-log.js';
import type { ConnectionSummary, StateChange } from '../../event-log/replay/summary.js';
import { countOf, preciseDuration } from './duration.js';
import { summarizeWithCause } from './failure-report.js';
import { type Colors, nameOf, oneLine } from './terminal.js';

const MAX_VALUE = 80;

export function renderReplay(report: ReplayReport, colors: Colors): string {
  return [
    ...[...report.connections].flatMap(([name, summary]) => connectionLines(name, summary, colors)),
    '',
    ...report.divergences.flatMap((divergence) => divergenceLines(divergence, colors)),
    verdictOf(report, colors),
  ].join('\n');
}

/** One line of the timeline. `label` names the recording, if there are several. */
export function renderChange(change: StateChange, startedAt: number, label?: string): string {
  const { entry, at, server, from, to, failure } = change;
  const why = failure === undefined ? '' : `: ${summarizeWithCause(failure)}`;
  const time = `+${((at - startedAt) / 1_000).toFixed(3)}s`.padStart(12);
  const whose = label === undefined ? '' : `  (${oneLine(label)})`;
  return `${time}  #${String(entry).padEnd(6)} ${nameOf(server)}${whose}  ${from === null ? '' : `${oneLine(from)} → `}${oneLine(to)}${why}`;
}

function connectionLines(name: string, summary: ConnectionSummary, { bold, dim }: Colors): string[] {
  const { state, generation, attempts, states, failures, failureCodes, rejected } = summary;
  const spent = Object.entries(states).map(([each, ms]) => `${oneLine(each)} ${preciseDuration(ms)}`);
  const later = Object.values(failureCodes).reduce((sum, count) => sum + count, 0) - failures.length;
  const codes = Object.entries(failureCodes).map(([code, count]) => `${oneLine(code)} × ${count}`);
  return [
    `${bold(nameOf(name))}  ${oneLine(state)}, ${countOf(attempts, 'attempt')}, session ${generation}`,
    dim(`    ${spent.join(', ')}`),
    ...(codes.length === 0 ? [] : [`    failures: ${codes.join(', ')}`]),
    ...eachOnce(failures.map(summarizeWithCause)).map((line) => `      ${line}`),
    ...(later > 0 ? [`      and ${countOf(later, 'later failure')}`] : []),
    ...rejected.map(
      ({ entry, event, state: then }) =>
        `    rejected: ${oneLine(event)} while ${oneLine(then)} (entry ${entry})`,
    ),
  ];
}

/** Each line once, where it comes first, with its number. */
function eachOnce(lines: readonly string[]): readonly string[] {
  return [...new Set(lines)].map((line) => {
    const count = lines.filter((each) => each === line).length;
    return count === 1 ? line : `${line} (× ${count})`;
  });
}

function divergenceLines({ message, context, method }: Divergence, { red }: Colors): string[] {
  const who = method === 'both' ? 'both replays' : method === 'rerun' ? 'the actors' : 'the fold';
  return [
    `${red('✗')} ${oneLine(message)} (${who})`,
    ...context.map(
      ({ field, expected, found }) =>
        `    ${oneLine(field)}: ${valueOf(found)} instead of ${valueOf(expected)}`,
    ),
  ];
}

function valueOf(value: unknown): string {
  const text = oneLine(JSON.stringify(value) ?? 'nothing');
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}

function verdictOf({ entries, divergenceCount, whyNoRerun }: ReplayReport, { green, red }: Colors): string {
  const how = whyNoRerun === undefined ? 'by the actors and by the fold' : `by the fold alone: ${whyNoRerun}`;
  const what = `${entries} ${entries === 1 ? 'entry' : 'entries'} replayed ${how}`;
  return divergenceCount === 0
    ? green(`${what}; no divergence`)
    : red(`${what}; ${countOf(divergenceCount, 'divergence')}`);
}
