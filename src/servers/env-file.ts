/** Reads the `envFile` of an entry: lines such as `NAME=value`, at every start. */
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { expandConfig, type ExpansionContext } from '../config/entry/expand.js';
import { printable } from '../config/entry/problem.js';
import type { ServerSpec } from '../config/entry/server-spec.js';
import { readConfigFile, readProblem } from '../config/files/sources.js';
import { TransportError } from '../failures/transport-error.js';
import { isAbsence } from '../storage/stored-file.js';

type Values = Readonly<Record<string, string>>;

/** The variables in the file; none if the entry has no file. Rejects with a `TransportError` if it cannot be read. */
export async function readEnvFile(spec: ServerSpec, context: ExpansionContext): Promise<Values> {
  const { name, baseDir, fileDir = baseDir, config } = spec;
  if (!('command' in config) || config.envFile === undefined) return {};
  const file = expanded(spec, config.envFile, context);
  // Hosts resolve a relative path from the folder of the project.
  const places = [...new Set([resolve(fileDir, file), resolve(baseDir, file)])];
  for (const [index, path] of places.entries()) {
    try {
      return parseEnv(await readConfigFile(path)) as Values;
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
  return {};
}

/** The path with its variables replaced, by the same rules as in `cwd`. */
function expanded({ name }: ServerSpec, file: string, context: ExpansionContext): string {
  const expansion = expandConfig({ name, baseDir: '/', config: { command: file } }, context);
  if ('failure' in expansion) throw new TransportError(expansion.failure);
  return 'command' in expansion.config ? expansion.config.command : file;
}
