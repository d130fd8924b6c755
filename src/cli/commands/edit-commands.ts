/** `troupe init`, `add`, `remove`, `enable` and `disable`: change a configuration file. They start nothing. */
import { validateEntry } from '../../config/entry/validate-entry.js';
import { describeProblem, isError } from '../../config/entry/problem.js';
import { serverCommand } from '../../lifecycle/server-command.js';
import { isAddress, splitWords, type Flags } from '../arguments/flags.js';
import { fileAt, fileOf, type EditedFile, type Place } from '../edited-file.js';
import { EXIT, type ExitCode, UsageError } from '../exit.js';
import { trustAsWritten, waitingRequest } from '../keep-trust.js';
import { nameOf, oneLine, type Terminal } from '../output/terminal.js';

export interface PlaceFlags extends Flags {
  /** Whether to change the user's own file instead of the project's. */
  readonly user?: boolean;
}

export interface AddFlags extends PlaceFlags {
  /** `NAME=VALUE`, or the name of a variable that is looked up when the server starts. */
  readonly env?: readonly string[];
  /** `NAME: VALUE`. */
  readonly header?: readonly string[];
  readonly cwd?: string;
  /** Replace an entry of that name. */
  readonly force?: boolean;
}

export interface NewEntry {
  readonly server: string;
  /** The command with its arguments, or the address. */
  readonly words: readonly string[];
}

/** Throws a `UsageError` if the file exists. */
export async function init(flags: PlaceFlags, terminal: Terminal): Promise<ExitCode> {
  const file = await fileAt(placeOf(flags), flags);
  if (file.exists)
    throw new UsageError(
      `${file.display} exists already; 'troupe add NAME COMMAND-OR-URL' adds a server to it`,
    );
  if (!/\.jsonc?$/i.test(file.path)) throw new UsageError(`${file.display}: the name must end in .json`);
  await file.create();
  if (flags.json) terminal.printJson('init', { file: file.path });
  else {
    terminal.print(`${file.display} written`);
    terminal.note(
      "'troupe add NAME COMMAND-OR-URL' adds a server; 'troupe import' gathers those of other programs",
    );
  }
  return EXIT.fine;
}

/** Throws a `UsageError` for an entry that could not be used, and for a name that is taken. */
export async function add(
  flags: AddFlags,
  terminal: Terminal,
  { server, words }: NewEntry,
): Promise<ExitCode> {
  const entry = toEntry(words, flags);
  const { problems } = validateEntry(server, entry, { source: 'add' });
  const errors = problems.filter(isError);
  if (errors.length > 0) throw new UsageError(errors.map(describeProblem).join('; '));
  const file = await fileAt(placeOf(flags), flags);
  if (!file.takesOwnForm)
    throw new UsageError(`${file.display} has entries in the form of another program ('${file.holder}')`);
  if (file.servers.includes(server) && flags.force !== true)
    throw new UsageError(`'${oneLine(server)}' is in ${file.display} already; --force replaces it`);
  await file.set(server, undefined, entry);
  const isTrusted = await trustAsWritten(server, flags);
  report(flags, terminal, { command: 'add', file, server, did: 'added to' });
  if (!flags.json && isTrusted) terminal.note('trusted, because you wrote it');
  for (const problem of problems) terminal.note(terminal.noteColors.yellow(describeProblem(problem)));
  if (!flags.json) terminal.note(`try it: ${serverCommand('check', server)}${placeIn(flags)}`);
  return EXIT.fine;
}

export async function remove(flags: Flags, terminal: Terminal, server: string): Promise<ExitCode> {
  const file = await fileOf(server, flags);
  await file.set(server, undefined, undefined);
  report(flags, terminal, { command: 'remove', file, server, did: 'removed from' });
  return EXIT.fine;
}

/** An entry that is as wanted already is not touched. */
export async function setEnabled(
  flags: Flags,
  terminal: Terminal,
  { server, enabled }: { readonly server: string; readonly enabled: boolean },
): Promise<ExitCode> {
  const file = await fileOf(server, flags);
  const wasTrusted = (await waitingRequest(server, flags)) === undefined;
  const [field, value] = switchOf(file.entry(server) ?? {}, enabled) ?? [];
  if (field !== undefined) {
    await file.set(server, field, value);
    if (wasTrusted) await trustAsWritten(server, flags);
  }
  const did =
    field === undefined
      ? enabled
        ? 'is enabled in'
        : 'is disabled in'
      : enabled
        ? 'enabled in'
        : 'disabled in';
  report(flags, terminal, { command: enabled ? 'enable' : 'disable', file, server, did });
  if (!wasTrusted && enabled)
    terminal.note(`it needs trust: ${serverCommand('trust', server)}${placeIn(flags)}`);
  return EXIT.fine;
}

/** What to set, so that the entry has one switch; undefined if it is as wanted. */
function switchOf(
  { enabled, disabled }: Readonly<Record<string, unknown>>,
  wanted: boolean,
): readonly [field: string, value: unknown] | undefined {
  const is = enabled !== false && disabled !== true;
  if (is === wanted) return undefined;
  if (disabled !== undefined) return ['disabled', wanted ? undefined : true];
  return ['enabled', wanted ? undefined : false];
}

interface Report {
  readonly command: 'add' | 'remove' | 'enable' | 'disable';
  readonly file: EditedFile;
  readonly server: string;
  readonly did: string;
}

function report({ json }: Flags, terminal: Terminal, { command, file, server, did }: Report): void {
  if (json) terminal.printJson(command, { file: file.path, server });
  else terminal.print(`${nameOf(server)} ${did} ${file.display}`);
}

/** So that a command that a person copies reads the same file. */
function placeIn({ config }: Flags): string {
  return config.map((path) => ` --config ${oneLine(path)}`).join('');
}

function placeOf({ user = false }: PlaceFlags): Place {
  return user ? 'user' : 'project';
}

/** The words are one command line, a command and its arguments, or an address. */
function toEntry(
  words: readonly string[],
  { env = [], header = [], cwd }: AddFlags,
): Record<string, unknown> {
  const [first = '', ...rest] = words;
  if (isAddress(first)) {
    if (rest.length > 0) throw new UsageError('an address is one word; options of troupe come before --');
    if (env.length > 0 || cwd !== undefined) throw new UsageError('--env and --cwd belong to a command');
    return {
      type: 'http',
      url: first,
      ...(header.length > 0 && { headers: Object.fromEntries(header.map(toHeader)) }),
    };
  }
  if (header.length > 0) throw new UsageError('--header belongs to an address');
  const line = rest.length === 0 ? splitWords(first) : words;
  if (line === undefined) throw new UsageError('a quote in the command is not closed');
  const [command = '', ...args] = line;
  if (command === '') throw new UsageError('the command is empty');
  return {
    command,
    ...(args.length > 0 && { args }),
    ...(env.length > 0 && { env: Object.fromEntries(env.map(toVariable)) }),
    ...(cwd !== undefined && { cwd }),
  };
}

function toVariable(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  const name = at === -1 ? text : text.slice(0, at);
  if (name === '') throw new UsageError('--env: expected NAME or NAME=VALUE');
  return [name, at === -1 ? `\${${name}}` : text.slice(at + 1)];
}

function toHeader(text: string): readonly [string, string] {
  const [, name, value] = /^([^:\s]+):\s*(.+)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new UsageError("--header: expected 'NAME: VALUE'");
  return [name, value];
}
