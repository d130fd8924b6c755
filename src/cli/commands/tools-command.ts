/** `troupe tools`: the tools as a model sees them. */
import { askForInputs } from '../prompts/ask-for-inputs.js';
import { readConfiguration, requireEnabled, requireFound } from '../configured-servers.js';
import { EXIT, type ExitCode, UsageError } from '../exit-codes.js';
import type { Flags } from '../arguments/flags.js';
import { makeTroupe } from '../make-troupe.js';
import { showingProgress } from '../output/progress.js';
import { isUsable, noteFailures, noteLeftOut, noteWarnings } from '../output/server-notes.js';
import type { Terminal } from '../output/terminal.js';
import { noSuchServer } from '../arguments/tool-target.js';
import { withTroupe } from '../with-troupe.js';
import type { Troupe } from '../../runtime/troupe.js';
import { nameOf, oneLine } from '../output/safe-text.js';
import type { CatalogTool } from '../../catalog/registry.js';
import type { Colors } from '../output/colors.js';
import { countOf } from '../output/duration.js';

export interface ToolsFlags extends Flags {
  readonly server?: string;
}

/**
 * `EXIT.failed` if a requested server did not become ready; the tools of the others are shown. A lazy server whose
 * tools are known from an earlier run is not started.
 */
export async function tools(
  flags: ToolsFlags,
  terminal: Terminal,
  stdin: NodeJS.ReadableStream,
): Promise<ExitCode> {
  const configuration = await readConfiguration(flags);
  const { names } = configuration;
  const { server } = flags;
  if (server !== undefined && !names.includes(server)) throw new UsageError(noSuchServer(server, names));
  const asked = requireEnabled(configuration, server === undefined ? names : [server]);
  noteWarnings(configuration.warnings, asked, terminal);
  const askInput = await askForInputs(flags, asked, terminal, stdin);
  const troupe = makeTroupe(flags, configuration, terminal, { maxAttempts: 1, only: asked, askInput });
  const noteChanges = listenForChanges(troupe);
  return withTroupe(troupe, terminal, async (signal) => {
    await showingProgress(terminal, troupe, () => troupe.settled({ signal }));
    await requireFound(troupe, asked, signal);
    await troupe.review.idle();
    const usable = troupe.status.filter(isUsable).map(({ server }) => server);
    const shown = asked.filter((name) => usable.includes(name));
    const list = troupe.tools.filter((tool) => shown.includes(tool.server));
    if (flags.json) terminal.printJson(list.map(toJsonTool), 2);
    else if (shown.length > 0) terminal.print(renderTools(list, shown, terminal.colors));
    noteLeftOut(troupe.status, shown, terminal);
    noteChanges(terminal);
    return noteFailures(troupe.status, asked, terminal) ? EXIT.failed : EXIT.fine;
  });
}

// Reports tools that differ from what was accepted. The command continues all the same.

/** Starts to listen. The returned function notes the changes so far. */
function listenForChanges({ diagnostics$ }: Pick<Troupe, 'diagnostics$'>): (terminal: Terminal) => void {
  const messages: string[] = [];
  diagnostics$.subscribe((event) => {
    if (event.kind === 'tool-changed') messages.push(event.message);
  });
  return (terminal) => {
    for (const message of messages) terminal.note(terminal.noteColors.yellow(oneLine(message)));
    if (messages.length > 0) terminal.note("'troupe review' shows them");
  };
}

// A list of tools: grouped by server for a person, as the documented JSON for a program.

/** Every field is present; a value that a tool does not state is null. */
function toJsonTool(tool: CatalogTool) {
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
function renderTools(tools: readonly CatalogTool[], servers: readonly string[], colors: Colors): string {
  return servers
    .map((server) =>
      renderGroup(
        server,
        tools.filter((tool) => tool.server === server),
        colors,
      ),
    )
    .join('\n\n');
}

function renderGroup(server: string, tools: readonly CatalogTool[], colors: Colors): string {
  const title = `${colors.bold(nameOf(server))} ${colors.dim(`(${countOf(tools.length, 'tool')})`)}`;
  return [title, ...tools.map((tool) => `  ${colors.cyan(tool.name)}${describe(tool, colors)}`)].join('\n');
}

function describe({ title, description }: CatalogTool, colors: Colors): string {
  const text = firstSentence(oneLine(description ?? title ?? ''));
  return text === '' ? '' : `  ${colors.dim(text)}`;
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?= |$)/.exec(text)?.[0] ?? text;
}
