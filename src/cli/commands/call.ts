/** `troupe call`: one call of one tool, starting only the servers that can have it. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { askForInputs } from '../ask-for-inputs.js';
import { readArguments, toArguments } from '../call-arguments.js';
import { renderCallResult } from '../call-result.js';
import { readConfiguration, requireEnabled, requireFound, type Configuration } from '../configuration.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import { makeTroupe } from '../make-troupe.js';
import { showingCallProgress, showingProgress } from '../progress.js';
import { manyLines } from '../safe-text.js';
import { isUsable, noteFailures, noteWarnings } from '../server-notes.js';
import type { Terminal } from '../terminal.js';
import { candidateServers, findTool, noServerFor, noSuchTool } from '../tool-target.js';
import { UsageError } from '../usage-error.js';
import { wakeDormant } from './check.js';
import { withTroupe } from '../with-troupe.js';

export interface CallRequest {
  /** Name for the model, or `server/tool`. */
  readonly tool: string;
  /** The arguments as they stand on the command line. */
  readonly words: readonly string[];
  readonly stdin: NodeJS.ReadableStream;
}

/** `EXIT.failed` where the server is not ready, the call fails, or the tool answers with an error. */
export async function call(flags: Flags, terminal: Terminal, request: CallRequest): Promise<ExitCode> {
  const configuration = await readConfiguration(flags);
  const servers = serversFor(request.tool, configuration);
  noteWarnings(configuration.warnings, servers, terminal);
  const given = await readArguments(request.words, request.stdin);
  const askInput = await askForInputs(flags, servers, terminal, request.stdin);
  const troupe = makeTroupe(flags, configuration, terminal, { maxAttempts: 1, only: servers, askInput });
  return withTroupe(troupe, terminal, async (signal) => {
    await showingProgress(terminal, troupe, async () => {
      await troupe.settled({ signal });
      await wakeDormant(troupe, signal);
    });
    await requireFound(troupe, servers, signal);
    const tool = findTool(request.tool, troupe.tools);
    const server = troupe.status.find(({ name }) => name === tool?.server);
    if (tool === undefined || server === undefined || !isUsable(server)) {
      if (noteFailures(troupe.status, servers, terminal)) return EXIT.failed;
      throw new UsageError(noSuchTool(request.tool, servers, troupe.tools));
    }
    const args = toArguments(given, tool.inputSchema);
    const result = await showingCallProgress(terminal, (onProgress) =>
      troupe.callTool(tool.name, args, {
        signal,
        onProgress,
        ...(flags.timeout === undefined ? {} : { timeoutMs: flags.timeout }),
      }),
    );
    tell(result, flags, terminal);
    return result.isError === true ? EXIT.failed : EXIT.fine;
  });
}

function serversFor(tool: string, configuration: Configuration): readonly string[] {
  const { names } = configuration;
  const candidates = candidateServers(tool, names);
  if (candidates.length === 0) throw new UsageError(noServerFor(tool, names));
  return requireEnabled(configuration, candidates);
}

function tell(result: CallToolResult, flags: Flags, terminal: Terminal): void {
  if (flags.json) return terminal.print(JSON.stringify(result, null, 2));
  const isError = result.isError === true;
  const stream = isError ? terminal.stderr : terminal.stdout;
  const text = renderCallResult(result).replace(/\n$/, '');
  const shown = stream.isTTY === true ? manyLines(text) : text;
  if (isError) terminal.note(shown === '' ? 'The tool answered with an error and no content.' : shown);
  else if (shown !== '') terminal.print(shown);
}
