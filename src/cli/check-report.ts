/** What `troupe check` found, for a person. */
import stringWidth from 'string-width';
import type { ServerStatus } from '../lifecycle/status.js';
import type { Colors } from './colors.js';
import { countOf } from './count-of.js';
import { preciseDuration } from './duration.js';
import { explain } from './failure-report.js';
import { fit } from './fit-text.js';
import { oneLine } from './safe-text.js';

export function renderCheck(statuses: readonly ServerStatus[], colors: Colors): string {
  const width = Math.max(...statuses.map(({ name }) => stringWidth(oneLine(name))));
  const wanted = statuses.filter(({ reason }) => reason !== 'disabled');
  const ready = wanted.filter(({ state }) => state === 'ready').length;
  const summary = `${ready} of ${wanted.length} ready`;
  return [
    ...statuses.flatMap((status) => entryLines(status, fit(oneLine(status.name), width), colors)),
    '',
    ready === wanted.length ? colors.green(summary) : colors.red(summary),
  ].join('\n');
}

function entryLines(status: ServerStatus, name: string, colors: Colors): string[] {
  if (status.reason === 'disabled') return [colors.dim(`- ${name}  disabled`)];
  if (status.state === 'ready') return [`${colors.green('✓')} ${name}  ${describeReady(status)}`];
  const [summary = '', ...details] = explain(status);
  return [`${colors.red('✗')} ${name}  ${summary}`, ...details.map((line) => `    ${line}`)];
}

function describeReady({ toolCount, serverInfo, protocolVersion, timings }: ServerStatus): string {
  const server = serverInfo === null ? '' : `, ${serverInfo.name} ${serverInfo.version}`;
  const spent = Object.values<number | null>({ ...timings }).reduce<number>((sum, ms) => sum + (ms ?? 0), 0);
  return oneLine(
    `ready, ${countOf(toolCount, 'tool')}${server}, protocol ${protocolVersion ?? 'unknown'}, ${preciseDuration(spent)}`,
  );
}
