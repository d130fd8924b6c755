/** `troupe tools`: the tools as a model sees them. */
import { readConfiguration, requireEnabled } from '../configured-servers.js';
import { EXIT, type ExitCode } from '../exit.js';
import type { Flags } from '../arguments/flags.js';
import { isUsable, noteFailures, noteLeftOut } from '../output/server-notes.js';
import { type Terminal, nameOf, oneLine, type Colors } from '../output/terminal.js';
import { serversNamed } from '../arguments/tool-target.js';
import { withServers, type ListTarget } from '../with-servers.js';
import type { Troupe } from '../../runtime/troupe.js';
import { tokensReport, renderTokens } from '../output/tokens-report.js';
import type { CatalogTool } from '../../catalog/registry.js';
import type { JsonObject } from '../../json/json-object.js';
import { visibleJson } from '../../json/write-json.js';
import { countOf } from '../output/duration.js';
import { firstSentence, toSignature } from '../../catalog/tool-signature.js';
import type { ToolJson } from '../output/json-output.js';
import { followToolChanges, noteToolChanges } from '../output/tool-changes.js';

export interface ToolsFlags extends Flags {
  /** Also print the definition of each tool. */
  readonly schema?: boolean;
  /** Print only the tools that these words find, best first. */
  readonly search?: string;
  /** Print the tokens of the definitions instead. */
  readonly tokens?: boolean;
}

/** Results of `--search`. */
const MAX_FOUND = 20;

/**
 * `EXIT.failed` if a requested server did not become ready; the tools of the others are shown. A lazy server whose
 * tools are known from an earlier run is not started.
 */
export async function tools(
  flags: ToolsFlags,
  terminal: Terminal,
  { servers, ...input }: ListTarget,
): Promise<ExitCode> {
  const configuration = await readConfiguration(flags);
  const asked = requireEnabled(configuration, serversNamed(servers, configuration.names));
  let changes = input.running?.toolChanges ?? (() => []);
  const onTroupe = (troupe: Troupe): void => {
    changes = followToolChanges(troupe);
  };
  const needed = { configuration, servers: asked, ...input, wakes: false, onTroupe };
  return withServers(flags, terminal, needed, async (troupe) => {
    await troupe.review.idle();
    const usable = troupe.status.filter(isUsable).map(({ server }) => server);
    const shown = asked.filter((name) => usable.includes(name));
    if (flags.tokens === true) printTokens(troupe, shown, flags, terminal);
    else if (flags.search === undefined) printAll(troupe, shown, flags, terminal);
    else await printFound(troupe, flags.search, shown, flags, terminal);
    noteLeftOut(troupe.status, shown, terminal);
    noteToolChanges(changes(), asked, terminal);
    return noteFailures(troupe.status, asked, terminal) ? EXIT.failed : EXIT.fine;
  });
}

function printAll(troupe: Troupe, servers: readonly string[], flags: ToolsFlags, terminal: Terminal): void {
  const list = troupe.tools.filter((tool) => servers.includes(tool.server));
  if (flags.json) terminal.printJson('tools', list.map(toJsonTool));
  else if (servers.length > 0) terminal.print(renderTools(list, servers, flags, terminal.colors));
}

function printTokens(
  troupe: Troupe,
  servers: readonly string[],
  flags: ToolsFlags,
  terminal: Terminal,
): void {
  const report = tokensReport(troupe.view({ servers }).tools, servers);
  if (flags.json) terminal.printJson('tools', report);
  else terminal.print(renderTokens(report, terminal.colors));
}

async function printFound(
  troupe: Troupe,
  words: string,
  servers: readonly string[],
  flags: ToolsFlags,
  terminal: Terminal,
): Promise<void> {
  const found = await troupe.searchTools(words, { limit: MAX_FOUND, servers });
  if (flags.json) {
    const json = found.map(({ tool, score, matches }) => ({ ...toJsonTool(tool), score, matches }));
    terminal.printJson('tools', json);
  } else if (found.length === 0) terminal.note('no tool matches these words');
  else
    terminal.print(found.map(({ tool }) => renderTool(tool, flags, terminal.colors, tool.server)).join('\n'));
}

// A list of tools: grouped by server for a person, as the documented JSON for a program.

function toJsonTool(tool: CatalogTool): ToolJson {
  return {
    name: tool.name,
    server: tool.server,
    tool: tool.tool,
    title: tool.title ?? null,
    description: tool.description ?? null,
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema ?? null,
    annotations: tool.annotations ?? null,
    requiresConfirmation: tool.requiresConfirmation,
  };
}

/** Every requested server has its group, even an empty one. */
function renderTools(
  tools: readonly CatalogTool[],
  servers: readonly string[],
  flags: ToolsFlags,
  colors: Colors,
): string {
  return servers
    .map((server) => {
      const own = tools.filter((tool) => tool.server === server);
      const title = `${colors.bold(nameOf(server))} ${colors.dim(`(${countOf(own.length, 'tool')})`)}`;
      return [title, ...own.map((tool) => renderTool(tool, flags, colors))].join('\n');
    })
    .join('\n\n');
}

/** The signature, with the server in front if it is given, and below it the description and the whole definition. */
function renderTool(tool: CatalogTool, { schema }: ToolsFlags, colors: Colors, server?: string): string {
  const [name = '', ...rest] = toSignature(tool).split(/(?=\()/);
  const place = server === undefined ? '' : colors.dim(`${nameOf(server)}/`);
  const lines = [`  ${place}${colors.cyan(name)}${rest.join('')}`];
  const text = firstSentence(oneLine(tool.description ?? tool.title ?? ''));
  if (text !== '') lines.push(`      ${colors.dim(text)}`);
  if (schema === true)
    lines.push(
      ...visibleJson(definitionOf(tool), 2)
        .split('\n')
        .map((line) => `      ${line}`),
    );
  return lines.join('\n');
}

function definitionOf({ name, inputSchema, outputSchema, annotations }: CatalogTool): JsonObject {
  return {
    name,
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
  };
}
