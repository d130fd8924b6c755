/**
 * Where the command of an entry leads on this machine, for the person who is asked. Names nothing of the entry to the
 * system: the folders of the search path are listed, and a path is only computed.
 */
import { readdir } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { TrustRequest } from './trust-request.js';

export interface FoundHere {
  /** The file that the command leads to, or where it is looked for; undefined if a variable decides. */
  readonly program?: string;
  /** Absolute path of the folder that it starts in; undefined if a variable decides. */
  readonly folder?: string;
}

/** `searchPath`: the `PATH` of the host. Never rejects. */
export async function findHere(request: TrustRequest, searchPath = process.env['PATH'] ?? ''): Promise<FoundHere> {
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
): Promise<string | undefined> {
  if (isAbsolute(command) || command.includes('$')) return undefined;
  if (/[/\\]/.test(command)) return folder === undefined ? undefined : placeOf(command, folder);
  if (Object.keys(env).some((name) => name.toUpperCase() === 'PATH')) return 'looked for in the PATH that the entry sets';
  for (const part of searchPath.split(delimiter)) {
    const place = resolve(folder ?? '/', part);
    const names = await readdir(place).catch(() => []);
    const name = names.find((each) => isProgram(each, command));
    if (name !== undefined) return join(place, name);
  }
  return 'not found in your PATH';
}

/** Windows finds `node` as `node.exe` or `node.cmd`. */
function isProgram(file: string, command: string): boolean {
  if (process.platform !== 'win32') return file === command;
  const [name, wanted] = [file.toLowerCase(), command.toLowerCase()];
  return ['', '.exe', '.cmd', '.bat', '.com'].some((ending) => name === wanted + ending);
}

/** Undefined if a variable or the home folder decides. */
function placeOf(path: string, folder: string): string | undefined {
  return path.includes('$') || path.startsWith('~') ? undefined : resolve(folder, path);
}
