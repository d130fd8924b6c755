/** `troupe tools`: the tools as a model sees them. */
import { readConfiguration, requireEnabled } from '../configuration.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import { makeTroupe } from '../make-troupe.js';
import { showingProgress } from '../progress.js';
import { noteFailures, noteWarnings } from '../server-notes.js';
import type { Terminal } from '../terminal.js';
import { renderTools, toJsonTool } from '../tool-list.js';
import { noSuchServer } from '../tool-target.js';
import { UsageError } from '../usage-error.js';
import { withTroupe } from '../with-troupe.js';

export interface ToolsFlags extends Flags {
  readonly server?: string;
}

/** `EXIT.failed` where a server that was asked did not become ready; the tools of the others are shown. */
export async function tools(flags: ToolsFlags, terminal: Terminal): Promise<ExitCode> {
  const configuration = await readConfiguration(flags);
  const { names } = configuration;
  const { server } = flags;
  if (server !== undefined && !names.includes(server)) throw new UsageError(noSuchServer(server, names));
  const asked = requireEnabled(configuration, server === undefined ? names : [server]);
  noteWarnings(configuration.warnings, asked, terminal);
  const troupe = makeTroupe(flags, configuration, terminal, { maxAttempts: 1, only: asked });
  return withTroupe(troupe, terminal, async (signal) => {
    await showingProgress(terminal, troupe, () => troupe.settled({ signal }));
    const list = troupe.tools;
    const ready = asked.filter((name) => troupe.connection(name)?.state === 'ready');
    if (flags.json) terminal.print(JSON.stringify(list.map(toJsonTool), null, 2));
    else if (ready.length > 0) terminal.print(renderTools(list, ready, terminal.colors));
    return noteFailures(troupe.status, asked, terminal) ? EXIT.failed : EXIT.fine;
  });
}
