/** `troupe config`: shows which servers are configured, where, and which entries hide others. Starts nothing. */
import { CONFIG_SCHEMA } from '../../config/entry/published-schema.js';
import { readConfiguration } from '../configured-servers.js';
import { EXIT, type ExitCode } from '../exit.js';
import type { Flags } from '../arguments/flags.js';
import { noteWarnings } from '../output/server-notes.js';
import { type Terminal, type Colors, nameOf, oneLine } from '../output/terminal.js';
import type { DiscoveredServer, Discovery } from '../../servers/discover.js';
import { describeProblem, errorsByServer } from '../../config/entry/problem.js';
import type { ConfigProblem } from '../../errors.js';
import { countOf } from '../output/duration.js';
import type { ConfigJson, ConfigSchema, ConfiguredServer } from '../output/json-output.js';

export interface ConfigFlags extends Flags {
  /** Print the JSON Schema of a configuration file instead. */
  readonly schema?: boolean;
}

/** `EXIT.failed` if an entry, or a file that was found, cannot be used. */
export async function config(flags: ConfigFlags, terminal: Terminal): Promise<ExitCode> {
  if (flags.schema === true) {
    terminal.printJson('config', CONFIG_SCHEMA as ConfigSchema);
    return EXIT.fine;
  }
  const { discovery, names, warnings } = await readConfiguration(flags);
  noteWarnings(warnings, names, terminal);
  if (flags.json) terminal.printJson('config', toConfigJson(discovery));
  else terminal.print(renderConfig(discovery, terminal.colors));
  const isUsable = discovery.refused.length === 0 && discovery.sources.every(({ ok }) => ok);
  return isUsable ? EXIT.fine : EXIT.failed;
}

// The merged configuration, for a person and as JSON. Its secrets are masked already.

type NamedServer = readonly [name: string, server: ConfiguredServer];

interface RefusedEntry {
  readonly name: string;
  readonly errors: readonly ConfigProblem[];
}

/** The entries that cannot be used, with their problems. */
function refusedEntries({ refused, problems }: Discovery): readonly RefusedEntry[] {
  const errors = errorsByServer(problems);
  return refused.map((name) => ({ name, errors: errors.get(name) ?? [] }));
}

export function toConfigJson(discovery: Discovery): ConfigJson {
  const { servers } = discovery;
  const used = servers.map(({ server, source, config, enabled, trusted, shadows }): NamedServer => [
    server,
    { source, config, enabled, trusted, shadows },
  ]);
  const wrong = refusedEntries(discovery).map(({ name, errors }): NamedServer => {
    const source = errors[0]?.source ?? null;
    return [name, { source, config: null, enabled: false, trusted: false }];
  });
  const problems = discovery.problems.map((problem) => ({
    ...problem,
    severity: problem.severity ?? 'error',
  }));
  return { servers: Object.fromEntries([...used, ...wrong]), problems };
}

export function renderConfig(discovery: Discovery, colors: Colors): string {
  const { servers, refused } = discovery;
  const wrong = refusedEntries(discovery);
  const sources = [...servers, ...wrong.flatMap(({ errors }) => errors.slice(0, 1))];
  const count = new Set(sources.map(({ source }) => source)).size;
  return [
    ...servers.flatMap((server) => serverLines(server, colors)),
    ...wrong.flatMap(({ name, errors }) => [
      `${colors.red('✗')} ${nameOf(name)}`,
      ...errors.map((problem) => `    ${oneLine(describeProblem(problem))}`),
    ]),
    '',
    `${countOf(servers.length + refused.length, 'server')} from ${countOf(count, 'source')}`,
  ].join('\n');
}

function serverLines(found: DiscoveredServer, colors: Colors): string[] {
  const { server, source, config, shadows } = found;
  const title = `${markOf(found, colors)} ${colors.bold(nameOf(server))}  ${oneLine(source)}${stateOf(found)}`;
  const { command, args, ...fields } = config;
  const line = command === undefined ? [] : [['command', [command, ...toList(args)].map(toWord).join(' ')]];
  const rest = Object.entries(fields).filter(([field, value]) => field !== 'enabled' && value !== 'stdio');
  return [
    title,
    ...[...line, ...rest.map(([field, value]) => [field, toText(value)])].map(
      ([field = '', text = '']) => `    ${field}: ${oneLine(text)}`,
    ),
    ...(shadows.length === 0 ? [] : [colors.dim(`    shadows: ${oneLine(shadows.join(', '))}`)]),
  ];
}

function markOf({ enabled, trusted }: DiscoveredServer, colors: Colors): string {
  if (!enabled) return colors.dim('-');
  return trusted ? colors.green('✓') : colors.yellow('?');
}

function stateOf({ enabled, trusted }: DiscoveredServer): string {
  if (!enabled) return ', disabled';
  return trusted ? '' : ', needs trust';
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function toWord(value: unknown): string {
  const word = toText(value);
  return word === '' || /\s/.test(word) ? JSON.stringify(word) : word;
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
