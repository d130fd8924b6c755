/**
 * The configuration file that a command edits: the one of `--config`, the project's `.mcp.json`, or Troupe's own file of the
 * user. The files of other hosts are edited only if `--config` names them.
 */
import { isUtf8 } from 'node:buffer';
import { basename, dirname, join, resolve } from 'node:path';
import { EditRefused, editText, type TextEdit } from '../config/files/edit-text.js';
import { findSources } from '../config/files/file-discovery.js';
import { layoutOf, readerOf, type Syntax } from '../config/files/layout.js';
import { readConfigBytes, readProblem, type Source } from '../config/files/sources.js';
import { membersOf, valueOf, type TextTree } from '../config/files/text-tree.js';
import { isObject } from '../config/entry/read-shape.js';
import { ConfigError } from '../errors.js';
import { makeFolder } from '../storage/folders.js';
import { isAbsence } from '../storage/stored-file.js';
import { reasonOf } from '../text/error-message.js';
import type { Flags } from './arguments/flags.js';
import { noSuchServer } from './arguments/tool-target.js';
import { UsageError } from './exit.js';
import { oneLine } from './output/terminal.js';
import { writeWholeFile } from './output/write-whole-file.js';

export type Place = 'project' | 'user';

/** Holders whose entries have the form of Troupe. */
const OWN_FORM: ReadonlySet<string> = new Set(['mcpServers', 'servers', 'mcp_servers']);
/** The kinds of the files that belong to Troupe, by place. */
const OWN_KINDS: Readonly<Record<Place, string>> = { project: 'mcp.json', user: 'troupe' };

/** A file, as it is now. */
export class EditedFile {
  private constructor(
    readonly path: string,
    /** For messages. */
    readonly display: string,
    private readonly text: string | undefined,
    private readonly syntax: Syntax,
    private readonly tree: TextTree | undefined,
  ) {}

  /** Throws a `ConfigError` if it cannot be read. */
  static async open(path: string, display: string): Promise<EditedFile> {
    const { syntax } = layoutOf(path);
    const text = await readText(path, display);
    const parsed = text === undefined ? undefined : (await readerOf(syntax))(text);
    if (parsed?.kind === 'broken')
      throw new ConfigError(`${display}:${parsed.line}:${parsed.column}: ${parsed.message}`);
    return new EditedFile(path, display, text, syntax, parsed?.kind === 'tree' ? parsed.tree : undefined);
  }

  get exists(): boolean {
    return this.text !== undefined;
  }

  /** Whether `add` can write entries into it. */
  get takesOwnForm(): boolean {
    return OWN_FORM.has(this.holder);
  }

  /** The name of the object with the servers; in a file without one, the usual one. */
  get holder(): string {
    const known = layoutOf(this.path).holders.flatMap(({ path: [first] }) => first ?? []);
    const found = this.tree && membersOf(this.tree, this.tree.root).find(({ name }) => known.includes(name));
    if (found !== undefined) return found.name;
    if (this.syntax === 'toml') return 'mcp_servers';
    return basename(dirname(this.path)) === '.vscode' ? 'servers' : 'mcpServers';
  }

  /** The names of its servers. */
  get servers(): readonly string[] {
    const holder = this.tree?.memberOf(this.tree.root, this.holder);
    return holder === undefined || this.tree === undefined
      ? []
      : membersOf(this.tree, holder.node).map(({ name }) => name);
  }

  /** The entry as it is written; undefined if there is none, or if it is not an object. */
  entry(server: string): Readonly<Record<string, unknown>> | undefined {
    const holder = this.tree?.memberOf(this.tree.root, this.holder);
    const found = holder && this.tree?.memberOf(holder.node, server);
    const value = found && valueOf(found.node);
    return isObject(value) ? value : undefined;
  }

  /** Sets a field of an entry, or the entry if no field is named; without a value, removes it. */
  async set(server: string, field: string | undefined, value: unknown): Promise<void> {
    const path = [this.holder, server, ...(field === undefined ? [] : [field])] as const;
    await this.#write(await this.#edited({ path, ...(value !== undefined && { value }) }));
  }

  /** Writes a file without servers. It must not exist. */
  async create(): Promise<void> {
    await this.#write(`${JSON.stringify({ [this.holder]: {} }, null, 2)}\n`);
  }

  async #edited(edit: TextEdit): Promise<string> {
    try {
      return await editText(this.text ?? '', this.syntax, edit);
    } catch (error) {
      if (!(error instanceof EditRefused)) throw error;
      const separator = /^\d/.test(error.message) ? ':' : ' ';
      throw new ConfigError(`${this.display}${separator}${error.message}`, { cause: error });
    }
  }

  /** Throws a `ConfigError` if someone else has changed the file since it was read. */
  async #write(text: string): Promise<void> {
    if ((await readText(this.path, this.display)) !== this.text)
      throw new ConfigError(`${this.display} was changed by someone else just now; nothing was written`);
    try {
      makeFolder(dirname(this.path));
      await writeWholeFile(this.path, text, { overwrite: this.exists, keepsMode: true });
    } catch (error) {
      throw new ConfigError(`${this.display} cannot be written (${reasonOf(error)})`, { cause: error });
    }
  }
}

/** Undefined if there is no such file. */
async function readText(path: string, display: string): Promise<string | undefined> {
  try {
    const bytes = await readConfigBytes(path);
    if (!isUtf8(bytes)) throw new ConfigError(`${display} is not UTF-8 text; save it as UTF-8`);
    return bytes.toString('utf8');
  } catch (error) {
    if (isAbsence(error)) return undefined;
    if (error instanceof ConfigError) throw error;
    const { message } = readProblem({ id: path, scope: 'user' }, error);
    throw new ConfigError(`${display} ${message}`, { cause: error });
  }
}

/** The file that gets a new entry. Throws a `UsageError` if several files are given. */
export async function fileAt(place: Place, { config }: Pick<Flags, 'config'>): Promise<EditedFile> {
  const [given, ...others] = config;
  if (others.length > 0) throw new UsageError('give one --config FILE: the file to change');
  if (given !== undefined) return EditedFile.open(resolve(given), oneLine(given));
  const own = ownFile(await knownFiles(), place);
  if (own !== undefined) return EditedFile.open(own.path, own.display ?? own.path);
  if (place === 'user') throw new ConfigError('the home folder is not known: give --config FILE');
  return EditedFile.open(join(process.cwd(), '.mcp.json'), '.mcp.json');
}

/** The file that names the server. Throws a `UsageError` if there is none, or if it belongs to another host. */
export async function fileOf(server: string, flags: Pick<Flags, 'config'>): Promise<EditedFile> {
  if (flags.config.length > 0) {
    const file = await fileAt('project', flags);
    if (!file.servers.includes(server)) throw new UsageError(noSuchServer(server, file.servers));
    return file;
  }
  const known: string[] = [];
  const files = await knownFiles();
  for (const place of ['project', 'user'] as const) {
    const own = ownFile(files, place);
    if (own === undefined) continue;
    const file = await EditedFile.open(own.path, own.display ?? own.path);
    if (file.servers.includes(server)) return file;
    known.push(...file.servers);
  }
  for (const { path, display = path } of files) {
    const other = await EditedFile.open(path, display).catch(() => undefined);
    if (other?.servers.includes(server) !== true) continue;
    throw new UsageError(
      `'${oneLine(server)}' is in ${display}, the file of another program; give --config ${oneLine(path)} to change it`,
    );
  }
  throw new UsageError(noSuchServer(server, known));
}

type KnownFile = Source & { readonly path: string };

async function knownFiles(): Promise<readonly KnownFile[]> {
  const { sources } = await findSources({ cwd: process.cwd() });
  return sources.filter((source): source is KnownFile => source.path !== undefined);
}

function ownFile(files: readonly KnownFile[], place: Place): KnownFile | undefined {
  return files.find(({ kind }) => kind === OWN_KINDS[place]);
}
