/** `troupe call`: calls one tool once, and starts only the servers that can have it. */
import type { CallToolResult } from '../../mcp/server-offers.js';
import { visibleJson } from '../../json/write-json.js';
import { earlierOffers } from '../cached-offers.js';
import { readArguments, toArguments } from '../arguments/call-arguments.js';
import { readConfiguration, requireEnabled, type Configuration } from '../configured-servers.js';
import { EXIT, type ExitCode, UsageError } from '../exit.js';
import type { Flags } from '../arguments/flags.js';
import type { CommandInput } from '../host.js';
import { showingCallProgress } from '../output/progress.js';
import { manyLines, oneLine, type Terminal } from '../output/terminal.js';
import { isUsable, noteFailures } from '../output/server-notes.js';
import { candidateServers, findTool, joinTarget, noServerFor, noSuchTool } from '../arguments/tool-target.js';
import { withServers } from '../with-servers.js';
import { serversWithoutTools, whyLeftOut } from '../../requests/unknown-tool.js';
import { isJsonObject, type JsonObject } from '../../json/json-object.js';

export interface CallRequest extends CommandInput {
  /** Name for the model, `server/tool` or `server.tool`; or the server, if the tool is the first of the words. */
  readonly tool: string;
  /** The words after it: the arguments. */
  readonly words: readonly string[];
}

/** `EXIT.failed` if the server is not ready, the call fails, or the tool answers with an error. */
export async function call(flags: Flags, terminal: Terminal, request: CallRequest): Promise<ExitCode> {
  const configuration = await readConfiguration(flags);
  const { tool: wanted, words } = joinTarget(request.tool, request.words, configuration.names);
  const servers = await serversFor(wanted, configuration, flags);
  const given = await readArguments(words, request.stdin);
  const needed = { configuration, servers, stdin: request.stdin, running: request.running };
  return withServers(flags, terminal, needed, async (troupe, signal) => {
    const tool = findTool(wanted, troupe.tools);
    const server = troupe.status.find((row) => row.server === tool?.server);
    if (tool === undefined || server === undefined || !isUsable(server)) {
      const leftOut = whyLeftOut(wanted, troupe.status);
      if (leftOut !== undefined) {
        terminal.note(oneLine(leftOut.message));
        return EXIT.failed;
      }
      if (noteFailures(troupe.status, servers, terminal)) return EXIT.failed;
      const unnamed = oneLine(serversWithoutTools(troupe.status));
      throw new UsageError(
        `${noSuchTool(wanted, servers, troupe.tools)}${unnamed === '' ? '' : `.${unnamed}`}`,
      );
    }
    const args = toArguments(given, tool.inputSchema);
    const result = await showingCallProgress(terminal, (onProgress) =>
      troupe.callTool(tool.name, args, {
        signal,
        onProgress,
        ...(flags.timeout === undefined ? {} : { timeoutMs: flags.timeout, totalTimeoutMs: flags.timeout }),
      }),
    );
    printResult(result, flags, terminal);
    return result.isError === true ? EXIT.failed : EXIT.fine;
  });
}

async function serversFor(
  tool: string,
  configuration: Configuration,
  flags: Flags,
): Promise<readonly string[]> {
  const { names } = configuration;
  const candidates = candidateServers(tool, names);
  if (candidates.length === 0)
    throw new UsageError(noServerFor(tool, names, 'tool', await earlierOffers(tool, 'tool', flags)));
  return requireEnabled(configuration, candidates);
}

function printResult(result: CallToolResult, flags: Flags, terminal: Terminal): void {
  if (flags.json) return terminal.printJson('call', result);
  const isError = result.isError === true;
  const stream = isError ? terminal.stderr : terminal.stdout;
  const text = renderCallResult(result).replace(/\n$/, '');
  const shown = stream.isTTY === true ? manyLines(text) : text;
  if (isError) terminal.note(shown === '' ? 'The tool answered with an error and no content.' : shown);
  else if (shown !== '') terminal.print(shown);
}

/** The result of a call for a person: text as it is, everything else as JSON, even if it is malformed. */
export function renderCallResult(result: CallToolResult): string {
  const { content, structuredContent }: JsonObject = result;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content].filter(isGiven);
  if (blocks.length === 0) return structuredContent === undefined ? '' : toJson(structuredContent);
  return blocks.map(textOf).join('\n');
}

function textOf(block: unknown): string {
  const { type, text } = isJsonObject(block) ? block : {};
  return type === 'text' && typeof text === 'string' ? text : toJson(block);
}

function toJson(value: unknown): string {
  return visibleJson(value, 2);
}

function isGiven(value: unknown): boolean {
  return value !== undefined;
}
