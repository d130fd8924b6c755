/** `troupe prompts` lists the prompts of the servers; `troupe prompt` prints one with its arguments filled in. */
import type { CatalogPrompt } from '../../catalog/prompt.js';
import type { GetPromptResult } from '../../mcp/server-offers.js';
import { earlierOffers } from '../cached-offers.js';
import { type GivenArguments, readArguments } from '../arguments/call-arguments.js';
import type { Flags } from '../arguments/flags.js';
import type { CommandInput } from '../host.js';
import { candidateServers, findTool, joinTarget, noServerFor, noSuchTool } from '../arguments/tool-target.js';
import { readConfiguration, requireEnabled } from '../configured-servers.js';
import { EXIT, type ExitCode, UsageError } from '../exit.js';
import { type Colors, type Terminal, manyLines, nameOf, oneLine } from '../output/terminal.js';
import { isUsable, noteFailures } from '../output/server-notes.js';
import { type ListTarget, listOffers, withServers } from '../with-servers.js';
import { renderCallResult } from './call-command.js';
import { countOf } from '../output/duration.js';

/** As `listOffers`. */
export function prompts(flags: Flags, terminal: Terminal, target: ListTarget): Promise<ExitCode> {
  return listOffers(flags, terminal, target, (troupe, usable) => {
    const listed = troupe.prompts.filter(({ server }) => usable.includes(server));
    if (flags.json) terminal.printJson('prompts', listed.map(toJson));
    else if (usable.length > 0) terminal.print(renderList(usable, listed, terminal.colors));
  });
}

/** Every field is present; a value that a prompt does not state is null. */
function toJson({ name, server, prompt, title, description, arguments: args = [] }: CatalogPrompt) {
  return {
    name,
    server,
    prompt,
    title: title ?? null,
    description: description ?? null,
    arguments: args.map((each) => ({
      name: each.name,
      description: each.description ?? null,
      required: each.required === true,
    })),
  };
}

/** Every requested server has its group, even an empty one. */
function renderList(servers: readonly string[], prompts: readonly CatalogPrompt[], colors: Colors): string {
  return servers
    .map((server) => {
      const own = prompts.filter((each) => each.server === server);
      const title = `${colors.bold(nameOf(server))} ${colors.dim(`(${countOf(own.length, 'prompt')})`)}`;
      return [title, ...own.flatMap((each) => lines(each, colors))].join('\n');
    })
    .join('\n\n');
}

function lines(
  { prompt, title, description, arguments: args = [] }: CatalogPrompt,
  colors: Colors,
): string[] {
  const names = args
    .toSorted((a, b) => Number(b.required === true) - Number(a.required === true))
    .map(({ name, required }) => `${oneLine(name)}${required === true ? '' : '?'}`);
  const text = oneLine(description ?? title ?? '');
  return [
    `  ${colors.cyan(oneLine(prompt))}(${names.join(', ')})`,
    ...(text === '' ? [] : [`      ${colors.dim(text)}`]),
  ];
}

export type PromptFlags = Flags;

export interface PromptRequest extends CommandInput {
  /** Name for the model, `server/prompt` or `server.prompt`; or the server, if the prompt is the first of the words. */
  readonly prompt: string;
  /** The words after it: the arguments. */
  readonly words: readonly string[];
}

/** `EXIT.failed` if the server is not ready. Throws a `UsageError` for an unknown prompt and for missing arguments. */
export async function prompt(
  flags: PromptFlags,
  terminal: Terminal,
  { prompt: named, words: given, ...input }: PromptRequest,
): Promise<ExitCode> {
  const configuration = await readConfiguration(flags);
  const { tool: wanted, words } = joinTarget(named, given, configuration.names);
  const candidates = candidateServers(wanted, configuration.names);
  if (candidates.length === 0) {
    const earlier = await earlierOffers(wanted, 'prompt', flags);
    throw new UsageError(noServerFor(wanted, configuration.names, 'prompt', earlier));
  }
  const servers = requireEnabled(configuration, candidates);
  const args = toStrings(await readArguments(words, input.stdin));
  return withServers(flags, terminal, { configuration, servers, ...input }, async (troupe, signal) => {
    const offered = troupe.prompts.map((each) => ({ ...each, tool: each.prompt }));
    const found = findTool(wanted, offered);
    const isReady = troupe.status.some((row) => row.server === found?.server && isUsable(row));
    if (found === undefined || !isReady) {
      if (noteFailures(troupe.status, servers, terminal)) return EXIT.failed;
      throw new UsageError(noSuchTool(wanted, servers, offered, 'prompt'));
    }
    requireArguments(found, args);
    const { timeout } = flags;
    const limits = timeout === undefined ? {} : { timeoutMs: timeout, totalTimeoutMs: timeout };
    const result = await troupe.getPrompt(found.name, args, { signal, ...limits });
    if (flags.json) terminal.printJson('prompt', result);
    else terminal.print(render(result, terminal));
    return EXIT.fine;
  });
}

/** The arguments of prompts are strings (MCP 2025-11-25, Prompts). */
function toStrings(given: GivenArguments): Readonly<Record<string, string>> {
  if (given.kind === 'pairs') return Object.fromEntries(given.pairs);
  const wrong = Object.entries(given.value).find(([, value]) => typeof value !== 'string');
  if (wrong !== undefined)
    throw new UsageError(`'${oneLine(wrong[0])}': an argument of a prompt is a string`);
  return given.value as Record<string, string>;
}

function requireArguments(
  { arguments: known = [] }: CatalogPrompt,
  args: Readonly<Record<string, string>>,
): void {
  const missing = known.filter(({ name, required }) => required === true && !Object.hasOwn(args, name));
  if (missing.length === 0) return;
  throw new UsageError(`the prompt needs ${missing.map(({ name }) => `${oneLine(name)}=…`).join(' ')}`);
}

function render({ messages }: GetPromptResult, { colors, stdout }: Terminal): string {
  const shown = (text: string): string => (stdout.isTTY === true ? manyLines(text) : text);
  return messages
    .map(
      ({ role, content }) =>
        `${colors.bold(`${oneLine(role)}:`)} ${shown(renderCallResult({ content: [content] }))}`,
    )
    .join('\n\n');
}
