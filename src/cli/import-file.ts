/**
 * The configuration file that `troupe import` writes.
 *
 * An entry must mean the same wherever the file is used. So everything in it that starts from a folder (`startsIn` in
 * `entry-texts.ts`), and references to the folder of a project, are written out. Arguments are never changed: the folder that
 * they are resolved in stays the same.
 */
import { inputsWanted } from '../config/entry/expand.js';
import type { ServerSpec } from '../config/entry/server-spec.js';
import { rewriteReferences, type Replace } from '../config/entry/rewrite-references.js';
import type { ServerConfig } from '../config/entry/server-config.js';
import { homeFolder } from '../storage/folders.js';
import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { mapTexts, type TextField } from '../config/entry/entry-texts.js';
import { fieldName } from '../config/entry/problem.js';
import { escapeTemplate, parseTemplate, textsIn, variablesIn } from '../config/entry/template.js';
import { THIS_PLATFORM } from '../platform/platform.js';

const PREFIX = 'input:';

/**
 * Plain JSON: the entries as they are written, and the inputs that they refer to. If two sources use the same id for
 * different inputs, one of them is renamed: the answer to one is not meant for the other.
 */
export function toConfigFile(servers: readonly ServerSpec[]): object {
  const names = new AnswerNames();
  const inputs = new Map<string, object>();
  const entries = servers.map((spec) => {
    for (const id of idsOf(spec)) {
      const declared = spec.inputs?.get(id);
      const name = names.of(spec.source, id);
      if (declared !== undefined) inputs.set(name, { type: kindOf(declared), ...declared, id: name });
    }
    return [spec.name, renamed(spec, names)] as const;
  });
  return {
    mcpServers: Object.fromEntries(entries),
    ...(inputs.size > 0 && { inputs: [...inputs.values()] }),
  };
}

/** Assigns each input of each source its id in the file. */
class AnswerNames {
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  of(source: string, id: string): string {
    const key = JSON.stringify([source, id]);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    let name = id;
    for (let number = 2; this.#taken.has(name); number += 1) name = `${id}-${number}`;
    this.#taken.add(name);
    this.#names.set(key, name);
    return name;
  }
}

function renamed({ source, config }: ServerSpec, names: AnswerNames): ServerConfig {
  return rewriteReferences(config, ({ origin, name }) => {
    if (origin !== 'input') return undefined;
    const id = name.slice(PREFIX.length);
    const other = names.of(source, id);
    return other === id ? undefined : { template: `\${${PREFIX}${other}}` };
  });
}

function idsOf({ config }: ServerSpec): readonly string[] {
  return inputsWanted(config).map((name) => name.slice(PREFIX.length));
}

function kindOf({ options }: { readonly options?: readonly string[] }): string {
  return options === undefined ? 'promptString' : 'pickString';
}

export interface KeptFolder {
  readonly spec: ServerSpec;
  /** Whether the entry now names the folder. */
  readonly isWritten: boolean;
  /** Fields in which a variable decides whether the folder counts. They are unchanged. */
  readonly unclear: readonly string[];
}

/** The name of a project's file. Paths in its entries start from the folder of that file. */
const PROJECT_FILE = '.mcp.json';

/** The entry as it must be written in `file`, an absolute path, to keep its meaning. */
export function keepFolder(spec: ServerSpec, file: string): KeptFolder {
  const { scope, baseDir, config } = spec;
  if (scope === 'host' || scope === 'extension') return { spec, isWritten: false, unclear: [] };
  const isAtHome = startsAlike(spec, file);
  const named = scope === 'project' && !isAtHome ? rewriteReferences(config, namesOf(baseDir)) : config;
  const unclear: string[] = [];
  const written = mapTexts(isAtHome ? named : withFolder(named), (text, field) => {
    const pinned = pin(text, field, spec, isAtHome);
    if (pinned === undefined) unclear.push(fieldName(field.path));
    return pinned ?? text;
  });
  const isWritten = JSON.stringify(written) !== JSON.stringify(config);
  return { spec: isWritten ? { ...spec, config: written } : spec, isWritten, unclear };
}

/** Whether the entry would start in the same folder if it were in that file. */
function startsAlike({ scope, baseDir }: ServerSpec, file: string): boolean {
  if (dirname(file) !== baseDir) return false;
  return scope === 'given' || (scope === 'project' && basename(file) === PROJECT_FILE);
}

function withFolder(config: ServerConfig): ServerConfig {
  return 'command' in config && config.cwd === undefined ? { ...config, cwd: '' } : config;
}

function namesOf(folder: string): Replace {
  return ({ origin, name }) => {
    if (origin !== 'builtin') return undefined;
    if (name === 'workspaceFolder') return { literal: folder };
    return name === 'workspaceFolderBasename' ? { literal: basename(folder) } : undefined;
  };
}

/**
 * The text in a form that means the same in any folder, or in the folder of the entry if that stays the same. Undefined if a
 * variable decides whether it is absolute.
 */
function pin(
  text: string,
  { startsIn, syntax }: TextField,
  spec: ServerSpec,
  isAtHome: boolean,
): string | undefined {
  const { scope, baseDir } = spec;
  if (startsIn === undefined || (isAtHome && startsIn !== 'path-by-file')) return text;
  if (startsIn === 'shell') return `${goTo(escapeTemplate(baseDir, syntax))}${text}`;
  if (isAbsolute(text) || /^~(?=$|[/\\])/.test(text)) return text;
  const parts = parseTemplate(text, syntax);
  const [first] = parts;
  if (first?.kind === 'variable' && first.name !== 'workspaceFolderBasename')
    return first.origin === 'builtin' ? text : undefined;
  const folder = startsIn === 'path' ? baseDir : folderOf(parts, spec);
  if (folder === undefined) return undefined;
  if (isAtHome && folder === baseDir) return text;
  const base = escapeTemplate(isAtHome ? relative(baseDir, folder) : folder, 'command-line');
  // What `..` after a variable leads to depends on its value.
  const place = variablesIn(parts).length > 0 ? `${base}${sep}${text}` : join(base, text);
  return scope === 'user' ? fromHome(place) : place;
}

function fromHome(place: string): string {
  const home = homeFolder();
  if (home === undefined) return place;
  const named = escapeTemplate(home, 'command-line');
  return place === named || place.startsWith(`${named}${sep}`)
    ? `\${userHome}${place.slice(named.length)}`
    : place;
}

/** The folder from which such a file is read: see `readEnvFile`. Undefined if variables decide. */
function folderOf(
  parts: ReturnType<typeof parseTemplate>,
  { baseDir, fileDir = baseDir }: ServerSpec,
): string | undefined {
  if (fileDir === baseDir) return baseDir;
  if (variablesIn(parts).length > 0) return undefined;
  const path = textsIn(parts).join('');
  return !existsSync(join(fileDir, path)) && existsSync(join(baseDir, path)) ? baseDir : fileDir;
}

/** Code for the shell of this machine that continues in the folder, or fails. */
function goTo(folder: string): string {
  if (THIS_PLATFORM.name === 'win32') return `cd /d "${folder}" || exit 1 & `;
  return `cd '${folder.replaceAll("'", String.raw`'\''`)}' || exit 1; `;
}
