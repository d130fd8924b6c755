/** `troupe read`: reads one resource. Text is printed, data is written to a file or a pipe. */
import { Buffer } from 'node:buffer';
import type { ReadResourceResult } from '../../mcp/server-offers.js';
import { fitsTemplate } from '../../catalog/resource.js';
import type { Troupe } from '../../runtime/troupe.js';
import { nearestName } from '../../text/option-names.js';
import { serversNamed } from '../arguments/tool-target.js';
import type { Flags } from '../arguments/flags.js';
import type { CommandInput } from '../host.js';
import { readConfiguration, requireEnabled } from '../configured-servers.js';
import { EXIT, type ExitCode, UsageError } from '../exit.js';
import { manyLines, nameOf, oneLine, type Terminal } from '../output/terminal.js';
import { isUsable, noteFailures } from '../output/server-notes.js';
import { FORCE_REPLACES, whyNotWritten, writeWholeFile } from '../output/write-whole-file.js';
import { withServers } from '../with-servers.js';

export interface ReadFlags extends Flags {
  /** The server to ask. Default: the only one that offers the URI. */
  readonly server?: string;
  /** File for the content. */
  readonly output?: string;
  /** Replace an existing file. */
  readonly force?: boolean;
}

export interface ReadTarget extends CommandInput {
  readonly uri: string;
}

type Content = ReadResourceResult['contents'][number];

/**
 * `EXIT.failed` if no server that could offer the URI is ready. Throws a `UsageError` if none offers it, if several do,
 * or if data would go to a terminal.
 */
export async function read(
  flags: ReadFlags,
  terminal: Terminal,
  { uri, ...input }: ReadTarget,
): Promise<ExitCode> {
  const configuration = await readConfiguration(flags);
  const named = flags.server === undefined ? [] : [flags.server];
  const servers = requireEnabled(configuration, serversNamed(named, configuration.names));
  return withServers(flags, terminal, { configuration, servers, ...input }, async (troupe, signal) => {
    const server = flags.server ?? serverOf(uri, servers, troupe);
    const isReady = troupe.status.some((row) => row.server === server && isUsable(row));
    if (server === undefined || !isReady) {
      if (noteFailures(troupe.status, server === undefined ? servers : [server], terminal))
        return EXIT.failed;
      throw new UsageError(unknown(uri, troupe));
    }
    const { timeout } = flags;
    const limits = timeout === undefined ? {} : { timeoutMs: timeout, totalTimeoutMs: timeout };
    const result = await troupe.readResource(uri, { server, signal, ...limits });
    await show(result, flags, terminal);
    return EXIT.fine;
  });
}

/** The server that lists the URI, else the one with a template for it, else the only server. */
function serverOf(uri: string, servers: readonly string[], troupe: Troupe): string | undefined {
  const listing = troupe.resources.filter((each) => each.uri === uri);
  const fitting = troupe.resourceTemplates.filter(({ uriTemplate }) => fitsTemplate(uri, uriTemplate));
  const found = (listing.length > 0 ? listing : fitting).map(({ server }) => server);
  const [only, ...others] = new Set(found);
  if (others.length > 0)
    throw new UsageError(
      `several servers offer '${oneLine(uri)}': ${[only ?? '', ...others].map(nameOf).join(', ')}; choose one with --server`,
    );
  return only ?? (servers.length === 1 ? servers[0] : undefined);
}

function unknown(uri: string, { resources }: Troupe): string {
  const known = resources.map((each) => each.uri);
  const near = nearestName(uri, known);
  const question = near === undefined ? '' : `; did you mean '${oneLine(near)}'?`;
  return `no server lists '${oneLine(uri)}', and no template fits it; --server NAME asks that server all the same${question}`;
}

async function show(result: ReadResourceResult, flags: ReadFlags, terminal: Terminal): Promise<void> {
  const { contents } = result;
  if (flags.output !== undefined) {
    await write(flags.output, contents, flags);
    return;
  }
  if (flags.json) {
    terminal.printJson('read', result);
    return;
  }
  const isTerminal = terminal.stdout.isTTY === true;
  if (isTerminal && contents.some(isData))
    throw new UsageError('the content is data, not text: write it to a file with --output FILE');
  if (isTerminal) terminal.print(contents.map((content) => manyLines(textOf(content))).join('\n'));
  else if (!terminal.gone.aborted) for (const content of contents) terminal.stdout.write(bytesOf(content));
}

async function write(file: string, contents: readonly Content[], { force = false }: ReadFlags) {
  try {
    await writeWholeFile(file, Buffer.concat(contents.map(bytesOf)), { overwrite: force });
  } catch (error) {
    throw new UsageError(`'${file}' ${whyNotWritten(error, FORCE_REPLACES)}`, { cause: error });
  }
}

function isData(content: Content): boolean {
  return 'blob' in content;
}

function textOf(content: Content): string {
  return 'text' in content ? content.text : '';
}

function bytesOf(content: Content): Uint8Array {
  return 'blob' in content ? Buffer.from(content.blob, 'base64') : Buffer.from(content.text, 'utf8');
}
