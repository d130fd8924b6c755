/**
 * Where the command of an entry leads on this machine, for the person who is asked. Names nothing of the entry to the
 * system: the folders of the search path are listed, and a path is only computed.
 */
import { readdir } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { THIS_PLATFORM } from '../platform/platform.js';
import type { TrustRequest } from './trust-request.js';

export interface FoundHere {
  /**
   * The file that the command leads to. `in-own-path`: it is looked for in the `PATH` that the entry sets. `not-found`: it is
   * not in the `PATH` of the host. Undefined if a variable decides, or if the command is an absolute path.
   */
  readonly program?: { readonly file: string } | 'in-own-path' | 'not-found';
  /** Absolute path of the folder that it starts in; undefined if a variable decides. */
  readonly folder?: string;
}

/** `searchPath`: the `PATH` of the host. Never rejects. */
export async function findHere(
  request: TrustRequest,
  searchPath = process.env['PATH'] ?? '',
): Promise<FoundHere> {
  const { command, cwd, headersHelper } = request;
  if (command === undefined && headersHelper === undefined) return {};
  const folder = cwd === undefined ? request.folder : placeOf(cwd, request.folder);
  const program = command === undefined ? undefined : await programOf(command, request, folder, searchPath);
  return { ...(folder !== undefined && { folder }), ...(program !== undefined && { program }) };
}

async function programOf(
  command: string,
  { env }: TrustRequest,
  folder: string | undefined,
  searchPath: string,
): Promise<FoundHere['program']> {
  if (isAbsolute(command) || command.includes('$')) return undefined;
  if (/[/\\]/.test(command)) {
    const file = folder === undefined ? undefined : placeOf(command, folder);
    return file === undefined ? undefined : { file };
  }
  if (Object.keys(env).some((name) => name.toUpperCase() === 'PATH')) return 'in-own-path';
  for (const part of searchPath.split(delimiter)) {
    const place = resolve(folder ?? '/', part);
    const names = await readdir(place).catch(() => []);
    const name = names.find((each) => isProgram(each, command));
    if (name !== undefined) return { file: join(place, name) };
  }
  return 'not-found';
}

/** Windows finds `node` as `node.exe` or `node.cmd`. */
function isProgram(file: string, command: string): boolean {
  if (!THIS_PLATFORM.ignoresCase) return file === command;
  const [name, wanted] = [file.toLowerCase(), command.toLowerCase()];
  return ['', '.exe', '.cmd', '.bat', '.com'].some((ending) => name === wanted + ending);
}

/** Undefined if a variable or the home folder decides. */
function placeOf(path: string, folder: string): string | undefined {
  return path.includes('$') || path.startsWith('~') ? undefined : resolve(folder, path);
}
