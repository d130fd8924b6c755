/** `troupe check`: tries every server, explains each failure, and exits. */
import type { ServerStatus } from '../../lifecycle/status.js';
import { readConfiguration } from '../configured-servers.js';
import { EXIT, type ExitCode } from '../exit.js';
import { serversNamed } from '../arguments/tool-target.js';
import type { Flags } from '../arguments/flags.js';
import { leftOutLines } from '../output/server-notes.js';
import { type Terminal, type Colors, nameOf, oneLine } from '../output/terminal.js';
import { withServers } from '../with-servers.js';
import stringWidth from 'string-width';
import { countOf, preciseDuration } from '../output/duration.js';
import { explain } from '../output/failure-report.js';
import { fit } from '../output/fit-text.js';

export interface CheckFlags extends Flags {
  readonly attempts: number;
}

export interface CheckTarget {
  /** Names of servers; empty for all. */
  readonly servers: readonly string[];
  readonly stdin: NodeJS.ReadableStream;
}

/** `EXIT.fine` only if every requested server is ready or disabled. */
export async function check(
  flags: CheckFlags,
  terminal: Terminal,
  { servers, stdin }: CheckTarget,
): Promise<ExitCode> {
  const configuration = await readConfiguration(flags);
  const only = serversNamed(servers, configuration.names);
  const needed = { configuration, servers: only, stdin, maxAttempts: flags.attempts };
  return withServers(flags, terminal, needed, async (troupe) => {
    const status = troupe.status.filter(({ server }) => only.includes(server));
    if (flags.json) terminal.printJson('check', { servers: status });
    else terminal.print(renderCheck(status, terminal.colors));
    const areShown = only.every((name) => status.some((row) => row.server === name));
    return areShown && status.every(isFine) ? EXIT.fine : EXIT.failed;
  });
}

export function isFine({ state, reason }: ServerStatus): boolean {
  return state === 'ready' || reason === 'disabled';
}

/** The result of `troupe check` for a person. */
export function renderCheck(statuses: readonly ServerStatus[], colors: Colors): string {
  const width = Math.max(...statuses.map(({ server }) => stringWidth(nameOf(server))));
  const wanted = statuses.filter(({ reason }) => reason !== 'disabled');
  const ready = wanted.filter(({ state }) => state === 'ready').length;
  const summary = `${ready} of ${wanted.length} ready`;
  return [
    ...statuses.flatMap((status) => entryLines(status, fit(nameOf(status.server), width), colors)),
    '',
    ready === wanted.length ? colors.green(summary) : colors.red(summary),
  ].join('\n');
}

function entryLines(status: ServerStatus, name: string, colors: Colors): string[] {
  if (status.reason === 'disabled') return [colors.dim(`- ${name}  disabled`)];
  if (status.state === 'ready') {
    return [
      `${colors.green('✓')} ${name}  ${describeReady(status)}`,
      ...leftOutLines(status).map((line) => `    ${colors.yellow(line)}`),
    ];
  }
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
