/** `troupe tools`: the tools as a model sees them. */
import { askForInputs } from '../ask-for-inputs.js';
import { listenForChanges } from '../changed-tools.js';
import { readConfiguration, requireEnabled, requireFound } from '../configuration.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import { makeTroupe } from '../make-troupe.js';
import { showingProgress } from '../progress.js';
import { isUsable, noteFailures, noteWarnings } from '../server-notes.js';
import type { Terminal } from '../terminal.js';
import { renderTools, toJsonTool } from '../tool-list.js';
import { noSuchServer } from '../tool-target.js';
import { UsageError } from '../usage-error.js';
import { withTroupe } from '../with-troupe.js';

export interface ToolsFlags extends Flags {
  readonly server?: string;
}

/**
 * `EXIT.failed` where a server that was asked did not become ready; the tools of the others are shown. A lazy server
 * whose tools are known from an earlier run is not started.
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
    await troupe.review.settled();
    const usable = troupe.status.filter(isUsable).map(({ name }) => name);
    const shown = asked.filter((name) => usable.includes(name));
    const list = troupe.tools.filter((tool) => shown.includes(tool.server));
    if (flags.json) terminal.print(JSON.stringify(list.map(toJsonTool), null, 2));
    else if (shown.length > 0) terminal.print(renderTools(list, shown, terminal.colors));
    noteChanges(terminal);
    return noteFailures(troupe.status, asked, terminal) ? EXIT.failed : EXIT.fine;
  });
}
