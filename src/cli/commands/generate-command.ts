/** `troupe generate`: the types of tools as TypeScript, a check of such a file, or a command for one server. */
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { readFile } from 'node:fs/promises';
import type { CatalogTool } from '../../catalog/registry.js';
import { messageOf } from '../../text/error-message.js';
import type { Flags } from '../arguments/flags.js';
import { noSuchServer, serversNamed } from '../arguments/tool-target.js';
import { readConfiguration, requireEnabled, type Configuration } from '../configured-servers.js';
import { EXIT, UsageError, type ExitCode } from '../exit.js';
import { countOf } from '../output/duration.js';
import {
  changesBetween,
  generatedFile,
  readGenerated,
  shapesOf,
  type ToolShape,
} from '../output/generated-file.js';
import { serverCommandFile, WRITTEN_COMMAND } from '../output/server-command-file.js';
import { isUsable, noteFailures, noteLeftOut } from '../output/server-notes.js';
import { oneLine, type Terminal } from '../output/terminal.js';
import { writeWholeFile } from '../output/write-whole-file.js';
import { withServers } from '../with-servers.js';

export interface GenerateFlags extends Flags {
  /** The file to write, or to check. */
  readonly out?: string;
  /** Compare the file with the tools, and write nothing. */
  readonly check?: boolean;
  /** Write a command for this server instead. */
  readonly cli?: string;
}

export interface GenerateTarget {
  /** Names of servers. Empty: all servers, or with `check` the servers in the file. */
  readonly servers: readonly string[];
  readonly stdin: NodeJS.ReadableStream;
}

const READABLE = 0o644;
const EXECUTABLE = 0o755;

/** `EXIT.failed` if a server is not ready, which writes nothing, or if the file does not fit the tools. */
export async function generate(
  flags: GenerateFlags,
  terminal: Terminal,
  { servers, stdin }: GenerateTarget,
): Promise<ExitCode> {
  const { out, check = false, cli } = flags;
  if (check && out === undefined) throw new UsageError('--check needs --out FILE: the file to check');
  if (cli !== undefined && (check || servers.length > 0 || out === undefined))
    throw new UsageError('--cli takes one server and needs --out FILE; it has no --check');
  const written = out === undefined ? undefined : await contentOf(out);
  const configuration = await readConfiguration(flags);
  if (check)
    return checkFile(flags, terminal, { servers, stdin, configuration, before: shapesIn(out, written) });
  if (out !== undefined && written !== undefined && !isOurs(written))
    throw new UsageError(`${out} exists, and 'troupe generate' has not written it`);
  const named = cli === undefined ? servers : [cli];
  const asked = requireEnabled(configuration, serversNamed(named, configuration.names));
  const files = cli === undefined ? [] : configurationFrom(flags, cli, out ?? '');
  return withServers(flags, terminal, { configuration, servers: asked, stdin }, async (troupe) => {
    noteLeftOut(troupe.status, asked, terminal);
    if (noteFailures(troupe.status, asked, terminal)) {
      terminal.note('troupe: nothing was written, because types would be missing');
      return EXIT.failed;
    }
    const tools = toolsOf(troupe.tools, asked);
    const text = cli === undefined ? generatedFile(tools, named) : serverCommandFile(cli, tools, files);
    if (out === undefined && flags.json) terminal.printJson('generate', { tools: tools.length, text });
    else if (out === undefined) terminal.print(text.trimEnd());
    else {
      const isChanged = text !== written;
      if (isChanged) await write(out, text, cli === undefined ? READABLE : EXECUTABLE);
      if (flags.json) terminal.printJson('generate', { tools: tools.length, file: out, changed: isChanged });
      else terminal.note(`${out}: ${countOf(tools.length, 'tool')}${isChanged ? '' : ', unchanged'}`);
    }
    return EXIT.fine;
  });
}

interface Check extends GenerateTarget {
  readonly configuration: Configuration;
  readonly before: readonly ToolShape[];
}

async function checkFile(
  flags: GenerateFlags,
  terminal: Terminal,
  { servers, stdin, configuration, before }: Check,
): Promise<ExitCode> {
  const named = servers.length > 0 ? servers : [...new Set(before.map(({ server }) => server))];
  if (named.length === 0) throw new UsageError('the file has no tools: name the servers to compare it with');
  const unknown = named.find((name) => !configuration.names.includes(name));
  if (unknown !== undefined) throw new UsageError(noSuchServer(unknown, configuration.names));
  const asked = requireEnabled(configuration, named);
  return withServers(flags, terminal, { configuration, servers: asked, stdin }, async (troupe) => {
    const compared = troupe.status.filter(isUsable).map(({ server }) => server);
    const isCompared = ({ server }: { readonly server: string }): boolean =>
      asked.includes(server) && compared.includes(server);
    const now = shapesOf(troupe.tools.filter(isCompared));
    const changes = changesBetween(before.filter(isCompared), now);
    const notCompared = named.filter((server) => !isCompared({ server }));
    const fits = changes.length === 0 && notCompared.length === 0;
    if (flags.json) terminal.printJson('generate', { fits, changes, notCompared });
    else {
      for (const { message } of changes) terminal.print(oneLine(message));
      if (fits) terminal.print(`${flags.out} fits ${countOf(now.length, 'tool')}`);
    }
    noteFailures(troupe.status, asked, terminal);
    if (notCompared.length > 0) terminal.note(`not compared: ${notCompared.map(oneLine).join(', ')}`);
    return fits ? EXIT.fine : EXIT.failed;
  });
}

function toolsOf(tools: readonly CatalogTool[], servers: readonly string[]): readonly CatalogTool[] {
  return tools.filter(({ server }) => servers.includes(server));
}

/** Undefined if there is no such file. */
async function contentOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`${file} cannot be read: ${messageOf(error)}`);
  }
}

function isOurs(text: string): boolean {
  return readGenerated(text) !== undefined || text.includes(WRITTEN_COMMAND);
}

function shapesIn(file: string | undefined, text: string | undefined): readonly ToolShape[] {
  if (text === undefined) throw new UsageError(`${file} does not exist`);
  const shapes = readGenerated(text);
  if (shapes === undefined) throw new UsageError(`${file} is not from 'troupe generate'`);
  return shapes;
}

/** The files of `--config`, relative to the folder of the command. */
function configurationFrom({ config, add }: Flags, server: string, out: string): readonly string[] {
  if (add.some(({ name }) => name === server))
    throw new UsageError(`--cli needs a server of a file: write the entry of '${server}' with 'troupe add'`);
  return config.map((file) => {
    const path = relative(dirname(resolve(out)), resolve(file));
    if (isAbsolute(path)) throw new UsageError(`${file} is on another drive than ${out}`);
    return path.split(sep).map(encodeURIComponent).join('/');
  });
}

async function write(file: string, text: string, mode: number): Promise<void> {
  try {
    await writeWholeFile(file, text, { overwrite: true, keepsMode: true, mode });
  } catch (error) {
    throw new UsageError(`${file}: ${messageOf(error)}`);
  }
}
