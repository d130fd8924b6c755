/**
 * Entries of a project on their way into a file that may be used from anywhere: what they say of their project's folder,
 * by relative paths or by name, is written out. Arguments are never touched: the folder they are read in stays the same.
 */
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { ServerSpec } from '../config/merge.js';
import { rewriteReferences, type Replace } from '../config/rewrite-references.js';
import { escapeTemplate, parseTemplate } from '../config/template.js';
import type { ServerConfig } from '../options.js';

export interface KeptFolder {
  readonly spec: ServerSpec;
  /** `written`: the folder stands in the entry now. `unclear`: a variable decides, and the entry is as it was. */
  readonly folder: 'as-it-was' | 'written' | 'unclear';
}

/** The file a project is known by: its entries start from the folder it lies in. */
const PROJECT_FILE = '.mcp.json';

/** What the entry becomes in that file, an absolute path, so that it means what it means now. */
export function keepFolder(spec: ServerSpec, file: string): KeptFolder {
  const { scope, baseDir } = spec;
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

function namesOf(folder: string): Replace {
  return ({ origin, name }) => {
    if (origin !== 'builtin') return undefined;
    if (name === 'workspaceFolder') return { literal: folder };
    return name === 'workspaceFolderBasename' ? { literal: basename(folder) } : undefined;
  };
}

/** Undefined where the entry says enough, or where its first word is a variable: that may be absolute. */
function workingFolder(
  { cwd }: ServerConfig & { readonly cwd?: string },
  folder: string,
): string | undefined {
  const base = escapeTemplate(folder, true);
  if (cwd === undefined) return base;
  return isFixed(cwd) || beginsWithVariable(cwd) ? undefined : join(base, cwd);
}

/** Absolute, or in the home folder. */
function isFixed(cwd: string | undefined): boolean {
  return cwd !== undefined && (isAbsolute(cwd) || /^~(?=$|[/\\])/.test(cwd));
}

function beginsWithVariable(cwd: string): boolean {
  const template = parseTemplate(cwd, true);
  return 'parts' in template && template.parts[0]?.kind === 'variable';
}
