/**
 * The configuration file that `troupe import` writes.
 *
 * A project's entries must mean the same wherever the file is used. So their references to the folder of the project,
 * by relative path or by name, are written out. Arguments are never changed: the folder that they are resolved in stays
 * the same.
 */
import { inputsWanted } from '../config/entry/expand.js';
import type { ServerSpec } from '../config/entry/server-spec.js';
import { rewriteReferences, type Replace } from '../config/entry/rewrite-references.js';
import type { ServerConfig } from '../config/entry/server-config.js';
import { homeFolder } from '../storage/user-folder.js';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { escapeTemplate, parseTemplate } from '../config/entry/template.js';

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
  /** `written`: the entry now names the folder. `unclear`: a variable decides, and the entry is unchanged. */
  readonly folder: 'as-it-was' | 'written' | 'unclear';
}

/** The name of a project's file. Paths in its entries start from the folder of that file. */
const PROJECT_FILE = '.mcp.json';

/** The entry as it must be written in `file`, an absolute path, to keep its meaning. */
export function keepFolder(spec: ServerSpec, file: string): KeptFolder {
  const { scope, baseDir } = spec;
  if (scope === 'user') return keepUserFolder(spec);
  const isAtHome = basename(file) === PROJECT_FILE && dirname(file) === baseDir;
  if (scope !== 'project' || isAtHome) return { spec, folder: 'as-it-was' };
  const named = rewriteReferences(spec.config, namesOf(baseDir));
  const cwd = 'command' in named ? workingFolder(named, baseDir) : undefined;
  const config = cwd === undefined ? named : { ...named, cwd };
  if (JSON.stringify(config) !== JSON.stringify(spec.config)) {
    return { spec: { ...spec, config }, folder: 'written' };
  }
  return { spec, folder: 'command' in config && !isFixed(config.cwd) ? 'unclear' : 'as-it-was' };
}

/** An entry of the user starts at home; in a named file it would start in the folder of the file. */
function keepUserFolder(spec: ServerSpec): KeptFolder {
  const { baseDir, config } = spec;
  if (!('command' in config) || isFixed(config.cwd)) return { spec, folder: 'as-it-was' };
  const { cwd = '' } = config;
  if (beginsWithVariable(cwd))
    return { spec, folder: /^\$\{(?:workspaceFolder|userHome)\}/.test(cwd) ? 'as-it-was' : 'unclear' };
  const base = baseDir === homeFolder() ? '${userHome}' : escapeTemplate(baseDir, 'command-line');
  return { spec: { ...spec, config: { ...config, cwd: join(base, cwd) } }, folder: 'written' };
}

function namesOf(folder: string): Replace {
  return ({ origin, name }) => {
    if (origin !== 'builtin') return undefined;
    if (name === 'workspaceFolder') return { literal: folder };
    return name === 'workspaceFolderBasename' ? { literal: basename(folder) } : undefined;
  };
}

/** Undefined if the entry is clear already, or if it begins with a variable, which may be absolute. */
function workingFolder(
  { cwd }: ServerConfig & { readonly cwd?: string },
  folder: string,
): string | undefined {
  const base = escapeTemplate(folder, 'command-line');
  if (cwd === undefined) return base;
  return isFixed(cwd) || beginsWithVariable(cwd) ? undefined : join(base, cwd);
}

/** Whether it is absolute, or in the home folder. */
function isFixed(cwd: string | undefined): boolean {
  return cwd !== undefined && (isAbsolute(cwd) || /^~(?=$|[/\\])/.test(cwd));
}

function beginsWithVariable(cwd: string): boolean {
  return parseTemplate(cwd, 'command-line')[0]?.kind === 'variable';
}
