/** Replays a recorded log in a test, and fails with what differs. */
import type { LogSource } from '../format/log-source.js';
import { stateText, type Divergence } from './divergence.js';
import { replayLog, type ReplayOptions, type ReplayReport } from './replay-log.js';

const MAX_SHOWN = 3;

/**
 * Replays a log, and rejects if it diverges, holds no entry, or cannot be read to its end. A last line that was cut off is
 * allowed: the process of the recording was killed.
 *
 * @param log Path, URL, text, bytes or stream of the log, or a list of its parts.
 * @param options What to replay it with (`against`), and where to stop. Default: the charts of this package, and the whole log.
 * @returns The report of the replay.
 *
 * @throws `Error` with the first divergences, each with the states and the fields that differ.
 * @throws `TypeError` as `replayLog`.
 *
 * @example
 * ```ts
 * import { expectReplays } from 'mcp-troupe/event-log';
 * import { connectionMachine } from 'mcp-troupe/machines';
 *
 * await expectReplays('test/incidents/docs.jsonl', { against: { connectionMachine } });
 * ```
 */
export async function expectReplays(
  log: LogSource | readonly LogSource[],
  options: ReplayOptions = {},
): Promise<ReplayReport> {
  const report = await replayLog(log, options);
  const { problem, entries, divergences } = report;
  if (divergences.length > 0) throw new Error(divergenceText(report));
  if (problem !== undefined && problem.code !== 'truncated')
    throw new Error(`The log cannot be replayed to its end: ${problem.message}`);
  if (entries === 0) throw new Error('The log holds no entry to replay.');
  return report;
}

function divergenceText({ divergences, divergenceCount, entries }: ReplayReport): string {
  const own = divergences.filter(({ cause }) => cause === null);
  const shown = own.slice(0, MAX_SHOWN);
  const others = divergenceCount - shown.length;
  return [
    `The replay of ${entries} entries diverges from the log.`,
    ...shown.flatMap(linesOf),
    ...(others > 0
      ? [`${others} more divergences, ${divergences.length - own.length} of them in consequence.`]
      : []),
  ].join('\n');
}

function linesOf({ message, expected, found, context }: Divergence): readonly string[] {
  const states = expected === null ? [] : [`  - ${stateText(expected)}`, `  + ${stateText(found)}`];
  const fields = context.map(
    ({ field, expected, found }) => `  ${field}: ${JSON.stringify(expected)} -> ${JSON.stringify(found)}`,
  );
  return [message, ...states, ...fields];
}
