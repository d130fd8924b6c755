/** Reads the `envFile` of an entry: lines such as `NAME=value`, at every start. */
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { expandConfig, type ExpansionContext } from '../config/entry/expand.js';
import { printable } from '../config/entry/problem.js';
import type { ServerSpec } from '../config/entry/server-spec.js';
import { readConfigFile, readProblem } from '../config/files/sources.js';
import { insideOf, isFromEverybodys } from '../config/files/project-root.js';
import { TransportError } from '../failures/transport-error.js';
import { isAbsence } from '../storage/stored-file.js';
import { homeFolder } from '../storage/folders.js';
import { decidesWhatRuns } from '../trust/deciding-names.js';

type Values = Readonly<Record<string, string>>;

export interface EnvFile {
  readonly values: Values;
  /** Names of variables that decide what runs, which a file of the project, or of everybody, does not set for an entry of the user. */
  readonly ignored: readonly string[];
}

const NOTHING: EnvFile = { values: {}, ignored: [] };

/**
 * The variables in the file; none if the entry has no file. Rejects with a `TransportError` if it cannot be read. `cwd`: the
 * working folder of the host.
 */
export async function readEnvFile(
  spec: ServerSpec,
  context: ExpansionContext,
  cwd: string,
): Promise<EnvFile> {
  const { name, baseDir, fileDir = baseDir, config } = spec;
  if (!('command' in config) || config.envFile === undefined) return NOTHING;
  const file = expanded(spec, config.envFile, context);
  // Hosts resolve a relative path from the folder of the project.
  const places = [...new Set([resolve(fileDir, file), resolve(baseDir, file)])];
  for (const [index, path] of places.entries()) {
    try {
      const values = parseEnv(await readConfigFile(path)) as Values;
      return spec.scope === 'project' ? { values, ignored: [] } : await withoutDeciding(values, path, cwd);
    } catch (error) {
      if (index < places.length - 1 && isAbsence(error)) continue;
      const { message } = readProblem({ id: path, scope: 'given' }, error);
      throw new TransportError({
        code: 'config-invalid',
        message: `The 'envFile' of server '${printable(name)}' cannot be used: ${printable(path)}: ${message}.`,
        hint: "Create the file, or remove 'envFile' from the entry.",
      });
    }
  }
  return NOTHING;
}

/** What nobody has trusted, files of the project and of everybody, must not decide what a program of the user loads. */
async function withoutDeciding(values: Values, path: string, cwd: string): Promise<EnvFile> {
  const ignored = Object.keys(values).filter(decidesWhatRuns);
  if (ignored.length === 0) return { values, ignored };
  const { projectOf } = await import('../config/files/file-discovery.js');
  const { folders } = await projectOf(cwd, homeFolder());
  const isForeign = (await (await insideOf(folders))(path)) || (await isFromEverybodys(path));
  if (!isForeign) return { values, ignored: [] };
  const kept = Object.entries(values).filter(([name]) => !decidesWhatRuns(name));
  return { values: Object.fromEntries(kept), ignored };
}

/** The path with its variables replaced, by the same rules as in `cwd`. */
function expanded({ name }: ServerSpec, file: string, context: ExpansionContext): string {
  const expansion = expandConfig({ name, baseDir: '/', config: { command: file } }, context);
  if ('failure' in expansion) throw new TransportError(expansion.failure);
  return 'command' in expansion.config ? expansion.config.command : file;
}
